//! The engine `torch`: PyTorch, in a Python that the user has.

use super::CLOCK_KEY;
use super::key::{Key, MOST, ON_OFF, TRUE_FALSE, Takes, always};
use super::{EngineOptions, check_task, positive};
use powerband_core::domain::setup::{GENERATE, Setup};

/// Words of `mode=`; several are joined by `+`.
pub(crate) const MODES: [&str; 9] = [
    "eager",
    "amp-bf16",
    "amp-fp16",
    "fp16",
    "bf16",
    "channels-last",
    "compile",
    "script",
    "tensorrt",
];
/// Words of which a setup can have one.
const ARITHMETIC: [&str; 4] = ["amp-bf16", "amp-fp16", "fp16", "bf16"];
const COMPILERS: [&str; 3] = ["compile", "script", "tensorrt"];
/// Keys that rewrite an ONNX file first.
const OF_FILES: [&str; 5] = [
    "precision",
    "keep_float",
    "calibration",
    "ranges",
    "fixed_batch",
];
const TASKS: [&str; 3] = ["infer", "train", GENERATE];
/// Who asks for the tokens of `task=generate`.
const LOOPS: [&str; 2] = ["plain", "generate"];
const CLOCKS: [&str; 2] = ["device", "host"];
const OPTIMISERS: [&str; 3] = ["sgd", "adam", "adamw"];
/// Keys that have a meaning in training alone.
const OF_TRAINING: [&str; 6] = [
    "optimiser",
    "lr",
    "momentum",
    "data",
    "epoch_items",
    "deterministic",
];

/// The options of PyTorch.
pub struct PyTorch;

impl EngineOptions for PyTorch {
    fn id(&self) -> &'static str {
        "torch"
    }

    fn title(&self) -> &'static str {
        "PyTorch"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }

    fn takes_files(&self) -> bool {
        false
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        let kind = setup.device.split(':').next().unwrap_or_default();
        if !["cpu", "cuda", "rocm"].contains(&kind) {
            return Err(format!(
                "PyTorch runs on cpu, cuda:0 or rocm:0 here, not on {}",
                setup.device
            ));
        }
        positive(setup, "threads")?;
        for key in ["pinning", "spinning"] {
            if let Some(value) = setup
                .options
                .get(key)
                .filter(|v| !["on", "off"].contains(&v.as_str()))
            {
                return Err(format!("{key}={value} is neither on nor off"));
            }
        }
        let rewrites = OF_FILES
            .iter()
            .find(|key| setup.options.contains_key(**key));
        if let Some(key) = rewrites {
            return Err(format!(
                "{key}= rewrites ONNX files, which PyTorch does not run; mode= has fp16, bf16 and more"
            ));
        }
        check_modes(setup)?;
        check_training(setup)?;
        check_generating(setup)
    }
}

/// The words of a setup's `mode=`.
pub fn modes(setup: &Setup) -> Vec<&str> {
    let mode = setup.options.get("mode").map_or("eager", String::as_str);
    mode.split('+').map(str::trim).collect()
}

fn check_modes(setup: &Setup) -> Result<(), String> {
    let words = modes(setup);
    if let Some(word) = words.iter().find(|word| !MODES.contains(word)) {
        return Err(format!(
            "mode={word} is not known; there are {}, and several are joined by +",
            MODES.join(", ")
        ));
    }
    for group in [&ARITHMETIC[..], &COMPILERS[..]] {
        let of_group: Vec<&str> = words
            .iter()
            .copied()
            .filter(|w| group.contains(w))
            .collect();
        if let [first, second, ..] = of_group[..] {
            return Err(format!("mode={first}+{second} cannot be; give one of them"));
        }
    }
    Ok(())
}

fn check_training(setup: &Setup) -> Result<(), String> {
    let option = |key: &str| setup.options.get(key).map(String::as_str);
    let task = option("task").unwrap_or("infer");
    if !TASKS.contains(&task) {
        return Err(format!(
            "task={task} is not known; there are {}",
            TASKS.join(", ")
        ));
    }
    if task != "train" {
        let lost = OF_TRAINING.iter().find(|key| option(key).is_some());
        return lost.map_or(Ok(()), |key| {
            Err(format!("{key}= has an effect with task=train only"))
        });
    }
    if let Some(word) = modes(setup)
        .iter()
        .find(|word| ["script", "tensorrt"].contains(word))
    {
        return Err(format!(
            "mode={word} is for inference; leave it or task=train out"
        ));
    }
    if option(CLOCK_KEY).is_some() {
        return Err(format!(
            "{CLOCK_KEY}= is for inference; leave it or task=train out"
        ));
    }
    if let Some(optimiser) = option("optimiser").filter(|name| !OPTIMISERS.contains(name)) {
        return Err(format!(
            "optimiser={optimiser} is not known; there are {}",
            OPTIMISERS.join(", ")
        ));
    }
    for key in ["lr", "momentum"] {
        let number = option(key).map(|text| text.parse::<f64>().ok().filter(|n| *n >= 0.0));
        if number == Some(None) {
            return Err(format!(
                "{key}={} is no number from 0",
                option(key).unwrap_or_default()
            ));
        }
    }
    Ok(())
}

fn check_generating(setup: &Setup) -> Result<(), String> {
    let task = setup.options.get("task").map(String::as_str);
    let asks = setup.options.get("loop").map(String::as_str);
    if let Some(asks) = asks.filter(|asks| !LOOPS.contains(asks)) {
        return Err(format!(
            "loop={asks} is not known; there are {}",
            LOOPS.join(", ")
        ));
    }
    if task != Some(GENERATE) {
        let lost = asks
            .is_some()
            .then_some("loop= has an effect with task=generate only");
        return lost.map_or(Ok(()), |lost| Err(lost.to_owned()));
    }
    if let Some(word) = modes(setup)
        .into_iter()
        .find(|word| COMPILERS.contains(word))
    {
        return Err(format!(
            "mode={word} makes code for each length of the cache anew; leave it or task={GENERATE} out"
        ));
    }
    check_task(setup)
}

const KEYS: &[Key] = &[
    Key::new("mode", Takes::Several(&MODES), "how the network is run")
        .with_default("eager")
        .with_control(1, "Mode"),
    Key::new(
        "task",
        Takes::One(&TASKS),
        "what is measured: a forward pass, a whole step of training with its parts, or whole requests to a decoder with past key/values (dimensions prompt and new)",
    )
    .with_default("infer"),
    Key::new("threads", Takes::Count(MOST), "threads within an operator")
        .with_default("PyTorch's choice")
        .with_control(2, "Threads"),
    Key::new("pinning", ON_OFF, "each thread stays on a core of its own (OpenMP)").with_default("off"),
    Key::new("spinning", ON_OFF, "threads that wait for work stay awake (OpenMP)").with_default("on"),
    Key::new(
        "module",
        Takes::Path("module:function, or a file .pt, .ts, .pt2"),
        "a network of the user's own, in place of torchvision's by the plan's name",
    )
    .running(always),
    Key::new(
        "loop",
        Takes::One(&LOOPS),
        "who asks for the tokens of task=generate: a loop of ours, or generate() of transformers",
    )
    .with_default("plain"),
    Key::new(
        "python",
        Takes::Path("a path"),
        "the interpreter that has PyTorch, of several",
    )
    .running(always),
    Key::new(
        "compile_mode",
        Takes::One(&["default", "reduce-overhead", "max-autotune"]),
        "what torch.compile strives for, with mode=compile",
    )
    .with_default("default"),
    Key::new(
        CLOCK_KEY,
        Takes::One(&CLOCKS),
        "times of a run on a card: by events in its queue, or the host's until the card is done; copies of one card take the host's",
    )
    .with_default("device"),
    Key::new("tf32", ON_OFF, "matrices in TF32 on NVIDIA cards"),
    Key::new("optimiser", Takes::One(&OPTIMISERS), "of training").with_default("sgd"),
    Key::new("lr", Takes::Number(""), "learning rate of training"),
    Key::new(
        "momentum",
        Takes::Number(""),
        "momentum of training with sgd",
    ),
    Key::new(
        "data",
        Takes::Folder("a folder with a sub-folder for each class"),
        "pictures to train on",
    )
    .with_default("made up, in the shape of CIFAR-10"),
    Key::new(
        "epoch_items",
        Takes::Count(u32::MAX),
        "items between two reports of loss and accuracy",
    ),
    Key::new(
        "deterministic",
        TRUE_FALSE,
        "the same numbers in each training, where the device can",
    )
    .with_default("false"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(spec: &str) -> String {
        let setup: Setup = spec.parse().unwrap();
        PyTorch.check(&setup).err().unwrap_or_default()
    }

    #[test]
    fn words_of_a_mode_are_combined_where_they_can_be() {
        assert_eq!(fault("torch"), "");
        assert_eq!(
            fault("torch:cuda:0,mode=amp-fp16+channels-last+compile"),
            ""
        );
        assert!(fault("torch,mode=turbo").contains("channels-last"));
        assert!(fault("torch,mode=compile+script").contains("cannot be"));
        assert!(fault("torch,mode=fp16+amp-bf16").contains("one of them"));
        assert!(fault("torch:tpu").contains("cuda:0"));
        assert!(fault("torch,precision=int8").contains("mode="));
    }

    #[test]
    fn what_belongs_to_training_is_refused_without_it() {
        assert_eq!(fault("torch,task=train,optimiser=adam,lr=0.1"), "");
        assert!(fault("torch,lr=0.1").contains("task=train"));
        assert!(fault("torch,task=train,mode=script").contains("inference"));
        assert!(fault("torch,task=train,clock=host").contains("inference"));
        assert!(fault("torch,task=train,lr=fast").contains("lr=fast"));
        assert!(fault("torch,task=dream").contains("infer, train, generate"));
        assert_eq!(fault("torch,task=generate,loop=generate,mode=bf16"), "");
        assert!(fault("torch,task=generate,mode=compile").contains("length of the cache"));
        assert!(fault("torch,loop=generate").contains("task=generate only"));
        assert!(fault("torch,task=generate,lr=0.1").contains("task=train only"));
        assert!(fault("torch,task=generate,copies=2").contains("copies="));
        assert!(fault("torch,spinning=perhaps").contains("neither on nor off"));
    }
}
