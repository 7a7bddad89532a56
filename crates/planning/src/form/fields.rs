//! The text fields of a plan, in one list: their names, and what is typed in them.

/// A text field of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanField {
    /// The name of the session.
    Name,
    /// A built-in network, or the path of a file.
    Model,
    /// The spelling of a setup, by its place.
    Setup(usize),
    /// The user's name for a setup, by its place.
    Label(usize),
    Batches,
    /// Sizes of other dimensions.
    Sweeps,
    /// Names of dimensions; it is not shown.
    Dims,
    Rounds,
    /// Requests per second.
    Rate,
    Samples,
    Shapes,
    BatchAxis,
    /// What inputs are filled with.
    Fills,
}

impl PlanField {
    /// The fields that a plan has once, as the palette lists them.
    pub const ONCE: [Self; 10] = [
        Self::Model,
        Self::Batches,
        Self::Rounds,
        Self::Name,
        Self::Rate,
        Self::Samples,
        Self::Sweeps,
        Self::Shapes,
        Self::BatchAxis,
        Self::Fills,
    ];

    /// Its name, what is typed in it, and the hint where it is empty.
    pub fn texts(self) -> [&'static str; 3] {
        match self {
            Self::Name => ["Name", "the session's name", ""],
            Self::Model => [
                "Model",
                "the path of a network",
                "name or path of an ONNX file",
            ],
            Self::Setup(_) => ["Setup", "the spelling", "engine:device,key=value"],
            Self::Label(_) => ["Name of setup", "the name", "name"],
            Self::Batches => ["Batch sizes", "the batch sizes", "1, 2, 4 or 1..64"],
            Self::Sweeps => [
                "Sweep",
                "the sizes of other dimensions",
                "sizes of other dimensions, one sweep a line: sequence=128..2048; \
                 + between dimensions that go together: sequence=128,256+batch=8,4",
            ],
            Self::Dims => ["Dimensions", "the names of dimensions", ""],
            Self::Rounds => ["Rounds", "the rounds", ""],
            Self::Rate => ["Rate", "the rate of requests", "100"],
            Self::Samples => [
                "Samples",
                "the path of your samples",
                "made up, or a folder of your own",
            ],
            Self::Shapes => [
                "Shapes",
                "the shapes of the inputs",
                "shapes of inputs that the model leaves open, one per line; N is the batch: \
                 input=Nx3x224x224",
            ],
            Self::BatchAxis => [
                "Batch axis",
                "the batch axis",
                "the batch dimension, if the model does not name it: time, or input=1",
            ],
            Self::Fills => [
                "Input values",
                "what inputs are filled with",
                "what inputs are filled with, if not as said above, one per line: \
                 input_ids=random:0..1000, mask=ones, x=FILE.npy",
            ],
        }
    }

    /// What it is called.
    pub fn name(self) -> String {
        let [name, _, _] = self.texts();
        match self {
            Self::Setup(place) | Self::Label(place) => format!("{name} {}", place + 1),
            _ => name.to_owned(),
        }
    }

    /// What is typed in it.
    pub fn content(self) -> &'static str {
        let [_, content, _] = self.texts();
        content
    }

    /// The option of `powerband bench` that says the same; none where it is said otherwise there.
    pub const fn option(self) -> Option<&'static str> {
        match self {
            Self::Name => Some("--name"),
            Self::Batches => Some("--batch"),
            Self::Sweeps => Some("--sweep"),
            Self::Dims => Some("--dim"),
            Self::Rounds => Some("--rounds"),
            Self::Rate => Some("--rate"),
            Self::Samples => Some("--samples"),
            Self::Shapes => Some("--shape"),
            Self::BatchAxis => Some("--batch-axis"),
            Self::Fills => Some("--input"),
            Self::Setup(_) => Some("--setup"),
            Self::Model | Self::Label(_) => None,
        }
    }
}
