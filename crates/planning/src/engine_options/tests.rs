//! Options of every engine: what they take, what is refused, and what a slip may mean.

use super::*;

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = ALL.iter().map(|engine| engine.id()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), ALL.len());
}

#[test]
fn copies_and_their_devices_are_read() {
    let of = |spec: &str| copies(&spec.parse().unwrap());
    assert_eq!(of("ort"), Ok(1));
    assert_eq!(of("ort,copies=2"), Ok(2));
    assert_eq!(of("torch:cuda,devices=0+1"), Ok(2));
    assert_eq!(of("torch:cuda,devices=\"0,1\",copies=4"), Ok(4));
    assert!(
        of("torch:cuda,devices=0+1,copies=3")
            .unwrap_err()
            .contains("evenly")
    );
    assert!(of("torch:cuda,devices=0+x").unwrap_err().contains("\"x\""));
    assert!(of("ort,devices=0+1").unwrap_err().contains("copies="));
    assert!(of("ort,copies=65").unwrap_err().contains("64"));
    let of = |spec: &str| streams(&spec.parse().unwrap());
    assert_eq!(of("ort,streams=4"), Ok(4));
    assert!(
        of("ort,streams=2,copies=2")
            .unwrap_err()
            .contains("exclude")
    );
    assert!(of("torch,streams=2").unwrap_err().contains("copies="));
}

#[test]
fn what_is_not_here_is_known_before_it_is_tried() {
    let lack = |key: &str| (key.to_owned(), format!("no {key}"));
    let info = EngineInfo {
        lacks: [
            lack("mode=compile"),
            lack("device=cuda"),
            lack("provider=openvino"),
        ]
        .into(),
        ..EngineInfo::default()
    };
    let of = |spec: &str| info.missing_reason(&spec.parse().unwrap());
    assert_eq!(of("torch:cpu,mode=amp-bf16"), None);
    assert_eq!(
        of("torch:cpu,mode=channels-last+compile").as_deref(),
        Some("no mode=compile")
    );
    assert_eq!(of("torch:cuda:1").as_deref(), Some("no device=cuda"));
    assert_eq!(
        of("ort,provider=openvino").as_deref(),
        Some("no provider=openvino")
    );
}

#[test]
fn a_device_without_its_usual_provider_is_not_here() {
    let info = EngineInfo {
        usual_providers: [("cuda".to_owned(), "cuda".to_owned())].into(),
        lacks: [("provider=cuda".to_owned(), "no CUDA".to_owned())].into(),
        ..EngineInfo::default()
    };
    let of = |spec: &str| info.missing_reason(&spec.parse().unwrap());
    assert_eq!(of("ort:cuda").as_deref(), Some("no CUDA"));
    assert_eq!(of("ort:cuda:1,threads=2").as_deref(), Some("no CUDA"));
    assert_eq!(of("ort:cpu"), None);
    assert_eq!(of("ort:cuda,provider=tensorrt"), None);
    assert_eq!(of("ort:cuda,library=plugin.so"), None);
}

#[test]
fn a_key_without_effect_says_why() {
    let of = |spec: &str, name: &str| {
        let setup: Setup = spec.parse().unwrap();
        let engine = find(&setup.engine).unwrap();
        let key = keys_of(engine).find(|key| key.name == name).unwrap();
        key_conflict(&setup, key)
    };
    for (spec, name, words) in [
        ("ort:cpu", "inter_threads", "parallel=on"),
        ("ort:cpu", "calibration", "precision=int8"),
        ("ort:cpu,copies=2", "streams", "exclude each other"),
        ("torch:cpu", "precision", "mode= has fp16"),
        ("torch:cpu", "lr", "task=train"),
    ] {
        let why = of(spec, name).unwrap_or_default();
        assert!(why.contains(words), "{spec} {name}: {why}");
    }
    assert_eq!(of("ort:cpu,parallel=on", "inter_threads"), None);
    assert_eq!(of("ort:cpu,precision=int8", "calibration"), None);
    assert_eq!(of("rten:cpu", "threads"), None);
    let setup = "ort:cpu".parse().unwrap();
    let why = why_not_value(&setup, "provider", "cuda").unwrap_or_default();
    assert!(why.contains("runs on cuda"), "{why}");
}

#[test]
fn every_default_of_a_list_is_in_it_and_every_key_can_be_tried() {
    for engine in ALL {
        for key in keys_of(*engine) {
            let words = key.choices();
            let is_word = !key.default.is_empty() && !key.default.contains(' ');
            let is_listed = words.is_empty() || !is_word || words.contains(&key.default);
            assert!(is_listed, "{}: {}", key.name, key.default);
            assert!(!key.example().is_empty(), "{}", key.name);
            assert_ne!(key.example(), key.default, "{}", key.name);
        }
    }
}

#[test]
fn faults_of_a_setup_are_named() {
    let fault = |spec: &str| {
        check(&spec.parse().unwrap())
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    };
    assert_eq!(fault("rten:cpu,threads=2,memory=4GiB"), "");
    let unknown = fault("caffe");
    assert!(unknown.contains("there are ort, rten, torch"), "{unknown}");
    assert!(!unknown.contains("fake"));
    assert!(fault("rtem").ends_with("did you mean rten?"));
    assert!(
        fault("rten,speed=11")
            .contains("it knows threads, opt, task, memory, precision, keep_float"),
        "{}",
        fault("rten,speed=11")
    );
    let slip = fault("ort,precison=fp16");
    assert!(slip.ends_with("did you mean precision?"), "{slip}");
    assert!(fault("ort,opt=extendd").ends_with("did you mean extended?"));
    assert!(fault("ort,parallel=onn").ends_with("did you mean on?"));
    assert_eq!(fault("ort,precision=float16,spinning=yes"), "");
    assert!(fault("rten,threads=0").contains("threads=0"));
    assert!(fault("ort,opt=most").contains("opt=most"));
    assert!(fault("rten,memory=lots").contains("4GiB"));
    assert!(fault("rten:cuda:0").contains("cpu"));
}
