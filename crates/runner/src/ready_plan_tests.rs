//! Plans that come ready are plans that the engines here understand.

mod ladders {
    use powerband_planning::engine_options::EngineInfo;
    use powerband_planning::ladders::{ALL, LadderMachine, find};
    use powerband_worker::engines;

    fn here(devices: &[&str], providers: &[&str]) -> LadderMachine {
        let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let info = EngineInfo {
            devices: texts(devices),
            providers: texts(providers),
            ..EngineInfo::default()
        };
        LadderMachine {
            engines: vec![("torch", info.clone()), ("ort", info)],
        }
    }

    #[test]
    fn every_step_is_a_setup_that_its_engine_understands() {
        let machines = [
            here(&["cpu"], &["CPU", "OpenVINO"]),
            here(&["cpu", "cuda:0"], &["CPU", "CUDA", "TensorRT"]),
            here(&["cpu", "rocm:0"], &["CPU", "MIGraphX"]),
            LadderMachine::default(),
        ];
        for machine in &machines {
            for ladder in ALL {
                let request = ladder.request(machine);
                assert!(!request.setups.is_empty(), "{}", ladder.id);
                for setup in &request.setups {
                    assert!(engines::check(setup).is_ok(), "{}: {setup}", ladder.id);
                }
            }
        }
    }

    #[test]
    fn a_card_is_used_where_there_is_one() {
        let request = find("resnet50-case-study")
            .unwrap()
            .request(&here(&["cpu", "rocm:0"], &[]));
        let specs: Vec<String> = request.setups.iter().map(ToString::to_string).collect();
        assert_eq!(specs[1], "torch:rocm:0,mode=amp-fp16");
        assert_eq!(specs[2], "ort:rocm:0,provider=migraphx");
        assert!(request.journey);
        assert!(find("everest").err().unwrap().contains("densenet121-suite"));
    }
}

mod default_benchmark {
    use powerband_core::domain::telemetry::DeviceKind;
    use powerband_planning::default_benchmark::request;
    use powerband_planning::engine_options::EngineInfo;
    use powerband_planning::ladders::LadderMachine;
    use powerband_worker::engines;

    fn here(torch: &[&str], providers: &[&str]) -> LadderMachine {
        let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let info = |devices: &[&str], providers: &[&str]| EngineInfo {
            devices: texts(devices),
            providers: texts(providers),
            ..EngineInfo::default()
        };
        LadderMachine {
            engines: vec![
                ("ort", info(&["cpu"], providers)),
                ("torch", info(torch, &[])),
                ("rten", info(&["cpu"], &[])),
            ],
        }
    }

    fn specs(here: &LadderMachine, cards: &[DeviceKind]) -> Vec<String> {
        let request = request(here, cards);
        for setup in &request.setups {
            engines::check(setup).unwrap();
        }
        request.setups.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_card_comes_first_where_an_engine_can_use_it() {
        let nvidia = here(&["cpu", "cuda:0"], &["CPU", "CUDA", "TensorRT"]);
        assert_eq!(
            specs(&nvidia, &[DeviceKind::Host, DeviceKind::Nvidia]),
            ["ort:cuda", "torch:cuda:0", "ort:cpu"]
        );
        let amd = here(&["cpu"], &["CPU", "MIGraphX", "ROCm"]);
        assert_eq!(
            specs(&amd, &[DeviceKind::Amd]),
            ["ort:rocm,provider=migraphx", "ort:cpu"]
        );
        // A library that could, without a card; and a card that no library can use.
        assert!(specs(&here(&["cpu"], &["CPU", "CUDA"]), &[DeviceKind::Host]).is_empty());
        assert!(specs(&here(&["cpu"], &["CPU"]), &[DeviceKind::Nvidia]).is_empty());
        assert!(specs(&LadderMachine::default(), &[DeviceKind::Nvidia]).is_empty());
    }
}
