//! The arguments of `powerband roofs`.

/// Arguments of `roofs`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  powerband roofs                                  measure what is not known yet, and print everything
  powerband roofs --show                           print what is kept, without measuring
  powerband roofs --again                          measure everything again
  powerband roofs --setup ort,precision=int8       what this setup's engine reaches as well
  powerband roofs --on gpu1                        the same on another machine

Roofs are measured once for each device and kept; they are measured again when the driver, the power
limit, the library or the number of usable threads changes. Close other programs first: a roof whose
repetitions lie more than 5 % apart is called noisy, and nothing is explained by it.

Exit status: 0 fine, 2 an error, or nothing is kept and --show was given.")]
pub(crate) struct RoofsArgs {
    /// Print what is kept, without measuring.
    #[arg(long, conflicts_with_all = ["again", "setups"])]
    pub show: bool,
    /// Measure everything again, whether it still holds or not.
    #[arg(long)]
    pub again: bool,
    /// A setup whose engine is measured beside the usual ones; several times for several.
    #[arg(long = "setup", value_name = "SETUP")]
    pub setups: Vec<String>,
    /// The machine: a name of the settings, or a host of ssh; they are kept over there [default: this one].
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}
