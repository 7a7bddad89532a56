//! The fields of a plan, in one list.
//!
//! The options of the command line, the window's fields and the tooltips of its controls are made of it; `draft.rs`
//! and `options.rs` read and check what is said of each.

use std::mem;

use super::arrival_mode::ArrivalMode;
use powerband_core::domain::plan::{PresetName, Profiler};

/// A field of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanField {
    Model,
    /// The spelling of a setup, by its place.
    Setup(usize),
    /// The user's name for a setup, by its place.
    Label(usize),
    Batches,
    /// Sizes of other dimensions.
    Sweeps,
    /// Names of dimensions; the window does not show it.
    Dims,
    Shapes,
    /// What inputs are filled with.
    Fills,
    BatchAxis,
    /// Whether the setups are optimisation steps.
    Steps,
    Preset,
    Rounds,
    Spacing,
    Blocks,
    /// Requests per second.
    Rate,
    Arrivals,
    Energy,
    Accuracy,
    Samples,
    Profile,
    ProfileStarts,
    OneAtATime,
    MachinesAtOnce,
    /// The name of the session.
    Name,
    Seed,
    Timeout,
}

/// How an option is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionForm {
    /// A value without the name of the option.
    Argument,
    Value,
    /// A value each time that it is given.
    Values,
    /// No value.
    Switch,
    /// A value behind `=`, or this one.
    ValueOr(&'static str),
}

/// What people read of a field, and how it is given on the command line.
#[derive(Debug)]
pub struct FieldInfo {
    pub field: PlanField,
    /// Its option, without dashes.
    pub option: &'static str,
    pub form: OptionForm,
    /// What stands for a value in the help; empty for a switch.
    pub value_name: &'static str,
    /// The option without which it has no effect; empty for none.
    pub needs: &'static str,
    /// What it does, for the command line and the window.
    pub help: &'static str,
    /// What follows the help on the command line: how it is given, and what holds without it.
    pub usage: &'static str,
    /// What the window calls it.
    pub name: &'static str,
    /// Why the window has no control for it; empty where it has one.
    pub without_control: &'static str,
    /// What is typed in its text field; empty where there is none.
    pub content: &'static str,
    /// The hint in its text field while that is empty.
    pub hint: &'static str,
}

const fn value(
    field: PlanField,
    option: &'static str,
    value_name: &'static str,
    name: &'static str,
    help: &'static str,
) -> FieldInfo {
    FieldInfo {
        field,
        option,
        form: OptionForm::Value,
        value_name,
        needs: "",
        help,
        usage: "",
        name,
        without_control: "",
        content: "",
        hint: "",
    }
}

const fn values(
    field: PlanField,
    option: &'static str,
    value_name: &'static str,
    name: &'static str,
    help: &'static str,
) -> FieldInfo {
    FieldInfo {
        form: OptionForm::Values,
        ..value(field, option, value_name, name, help)
    }
}

const fn switch(
    field: PlanField,
    option: &'static str,
    name: &'static str,
    help: &'static str,
) -> FieldInfo {
    FieldInfo {
        form: OptionForm::Switch,
        ..value(field, option, "", name, help)
    }
}

/// Every field, in the order of the help.
#[rustfmt::skip]
pub const ALL: [FieldInfo; 26] = [
    FieldInfo { form: OptionForm::Argument,
        usage: "; built in are resnet18, resnet34, resnet50, densenet121 (each also @cifar), mobilenetv2, \
            efficientnet-b0, vit-b16, unet, bert-base, minilm, gpt2 and llama-tiny (both also -past)",
        content: "the path of a network", hint: "name or path of an ONNX file",
        ..value(PlanField::Model, "model", "MODEL", "Model", "A built-in network or an ONNX file") },
    FieldInfo { usage: "; give it several times to measure several [default: every engine there is]",
        content: "the spelling", hint: "engine:device,key=value",
        ..values(PlanField::Setup(0), "setup", "SETUP", "Setup", "One way to run it") },
    FieldInfo { needs: "setup", usage: ", in the order of --setup", content: "the name", hint: "name",
        ..values(PlanField::Label(0), "label", "TEXT", "Name of setup",
            "What a setup is called in tables and charts") },
    FieldInfo { usage: " [default: 1,2,4,8,16]", content: "the batch sizes", hint: "1, 2, 4 or 1..64",
        ..value(PlanField::Batches, "batch", "LIST", "Batch sizes",
            "Batch sizes: 1,2,4,8, or 1..64 for the powers of two between") },
    FieldInfo { content: "the sizes of other dimensions",
        hint: "sizes of other dimensions, one sweep a line: sequence=128..2048; + between dimensions that go \
            together: sequence=128,256+batch=8,4",
        ..values(PlanField::Sweeps, "sweep", "DIM=SIZES", "Sweep",
            "Sizes of another dimension, as in seq=128,256 or seq=128..2048; several are all combinations, and \
            dimensions with + between go together: seq=128,256+batch=8,4") },
    FieldInfo { without_control: "kept from the session that is measured again",
        ..values(PlanField::Dims, "dim", "DIM=NAME", "Dimensions",
            "What the sweep calls a dimension: n=batch, or an input and the place of its dimension counted from 0, \
            x:1=seq") },
    FieldInfo { content: "the shapes of the inputs",
        hint: "shapes of inputs that the model leaves open, one per line; N is the batch: input=Nx3x224x224",
        ..values(PlanField::Shapes, "shape", "NAME=Nx128", "Shapes",
            "The whole shape of an input whose dimensions the model leaves open; N is the batch") },
    FieldInfo { usage: " [default: by its use in the network; powerband model says how]",
        content: "what inputs are filled with",
        hint: "what inputs are filled with, if not as said above, one per line: input_ids=random:0..1000, \
            mask=ones, x=FILE.npy",
        ..values(PlanField::Fills, "input", "NAME=FILL|NAME=FILE.npy", "Input values",
            "What an input is filled with: zeros, ones, a number, range (counts up), random:LOW..HIGH (HIGH is not \
            among them) or the values of a NumPy file") },
    FieldInfo { usage: " [default: the one that is called batch or N, else the one that a recurrent layer takes for \
            it, else the first]", content: "the batch axis",
        hint: "the batch dimension, if the model does not name it: time, or input=1",
        ..values(PlanField::BatchAxis, "batch-axis", "NAME|INPUT=INDEX", "Batch axis",
            "The dimension that is the batch: its name, or an input and its place counted from 0") },
    switch(PlanField::Steps, "journey", "Setups are optimisation steps",
        "Each setup is a step after the previous one, at the first batch size; the last one also runs at all others"),
    FieldInfo { usage: " [default: standard]",
        ..value(PlanField::Preset, "preset", "NAME", "Preset", "The preset of the measurement settings") },
    FieldInfo { content: "the rounds",
        ..value(PlanField::Rounds, "rounds", "N", "Rounds", "Rounds of each case, instead of the preset's") },
    FieldInfo { usage: ": 5s, 500ms [default: the preset's, 3 s and more, so that rounds span 15 s]. Each such \
            round is a start of its own, where a start is cheap. With 0s rounds follow one another in one process, \
            which is faster and says less about another day", without_control: "the preset's",
        ..value(PlanField::Spacing, "spacing", "TIME", "Spacing",
            "Time from the beginning of a round of a case to that of its next") },
    FieldInfo { without_control: "the preset publish has long visits",
        ..switch(PlanField::Blocks, "blocks", "Blocks",
            "Measure each case five times as long before the next has its turn, where what ran before it carries \
            over") },
    FieldInfo { content: "the rate of requests", hint: "100",
        ..value(PlanField::Rate, "rate", "REQUESTS/S", "Rate",
            "Open loop: requests arrive at this rate, in place of one run after another") },
    FieldInfo { needs: "rate", usage: " [default: poisson]",
        ..value(PlanField::Arrivals, "arrivals", "ARRIVALS", "Requests", "How requests arrive") },
    switch(PlanField::Energy, "energy", "Energy",
        "Measure each case for at least twelve seconds, long enough for its energy"),
    FieldInfo { form: OptionForm::ValueOr("64"), usage: ", on this number of inputs [default: 64]",
        ..value(PlanField::Accuracy, "accuracy", "INPUTS", "Accuracy",
            "Compare the outputs of each setup with the network in fp32") },
    FieldInfo { content: "the path of your samples", hint: "made up, or a folder of your own",
        ..value(PlanField::Samples, "samples", "PATH", "Samples",
            "Compare outputs on inputs of your own: pictures in a folder for each class, a CSV of file,label, .npy \
            files, or a folder of .npz files with an array for each input. With labels the top-1 and top-5 \
            accuracies are measured as well") },
    FieldInfo { form: OptionForm::ValueOr("engine"), usage: " [default: engine]",
        ..value(PlanField::Profile, "profile", "PROFILER", "Profiler",
            "Profile each case in a separate run after everything was measured: its time by node or by kernel. \
            Profiling slows a run, so profiled runs are never among the measurements") },
    FieldInfo { needs: "profile", usage: " [default: 1]",
        ..value(PlanField::ProfileStarts, "profile-starts", "N", "Starts",
            "Profile each case in so many starts, in turns, so that differences of its nodes between two profiles \
            have verdicts") },
    FieldInfo { without_control: "kept from the session that is measured again",
        ..switch(PlanField::OneAtATime, "one-at-a-time", "Workers",
            "Keep one worker alive at a time: each is restarted for each of its rounds") },
    value(PlanField::MachinesAtOnce, "at-once", "N", "Machines",
        "Measure on up to so many machines at the same time, in place of one after the other; setups of one machine \
        take turns as ever"),
    FieldInfo { usage: " [default: the model's name]", content: "the session's name",
        ..value(PlanField::Name, "name", "TEXT", "Name", "Name of the session") },
    FieldInfo { usage: " [default: the time]", without_control: "kept from the session that is measured again",
        ..value(PlanField::Seed, "seed", "N", "Seed", "Seed of the order of cases and of the input values") },
    FieldInfo { without_control: "the run's own buttons leave a case out",
        ..value(PlanField::Timeout, "timeout", "SECONDS", "Timeout",
            "End a worker that does not respond for this long beyond its time limit") },
];

impl PlanField {
    /// What people read of it.
    pub fn info(self) -> &'static FieldInfo {
        let is_own = |info: &&FieldInfo| mem::discriminant(&info.field) == mem::discriminant(&self);
        ALL.iter().find(is_own).unwrap_or(&ALL[0])
    }

    /// Fields in which a plan has one text, in the order of the list.
    pub fn typed_once() -> impl Iterator<Item = Self> {
        let typed = ALL.iter().filter(|info| !info.content.is_empty());
        let fields = typed.map(|info| info.field);
        fields.filter(|field| !matches!(field, Self::Setup(_) | Self::Label(_)))
    }

    /// The same field at a place among setups; any other as it is.
    #[must_use]
    pub fn numbered(self, place: usize) -> Self {
        match self {
            Self::Setup(_) => Self::Setup(place),
            Self::Label(_) => Self::Label(place),
            other => other,
        }
    }

    /// What the window calls it.
    pub fn name(self) -> String {
        let name = self.info().name;
        match self {
            Self::Setup(place) | Self::Label(place) => format!("{name} {}", place + 1),
            _ => name.to_owned(),
        }
    }

    /// The values that can be chosen, each with its help; none where a value is typed.
    pub fn choices(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Preset => PresetName::ALL
                .map(|preset| (preset.name(), preset_help(preset)))
                .to_vec(),
            Self::Arrivals => ArrivalMode::OPEN
                .map(|mode| (mode.option_value(), mode.help()))
                .to_vec(),
            Self::Profile => Profiler::ALL
                .map(|profiler| (profiler.name(), profiler_help(profiler)))
                .to_vec(),
            _ => Vec::new(),
        }
    }
}

/// What a preset is for, and how long it takes.
pub fn preset_help(preset: PresetName) -> &'static str {
    match preset {
        PresetName::Quick => "A first look: about a second per case, in five rounds over 15 s.",
        PresetName::Standard => "For decisions: until the median is known to ±1\u{a0}%.",
        PresetName::Publish => "For publication: a minute or more per case, up to p99.",
    }
}

fn profiler_help(profiler: Profiler) -> &'static str {
    match profiler {
        Profiler::Engine => "That of the engine",
        Profiler::Rocprofv3 => "AMD's, around the worker",
        Profiler::Rocprof => "AMD's of ROCm up to 6, around the worker",
        Profiler::Nsys => "NVIDIA's, around the worker",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_on_the_list_once() {
        for info in &ALL {
            assert_eq!(info.field.info().option, info.option);
            let needed = ALL.iter().any(|other| other.option == info.needs);
            assert!(needed || info.needs.is_empty(), "{}", info.needs);
            assert!(!info.help.contains("--"), "{}", info.help);
        }
    }
}
