//! How much an answer says: what fits a screen, or all of it.

/// The option `--verbose`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Detail {
    /// Print all that is known, such as each case of each warning; JSON has it anyway.
    #[arg(long, conflicts_with = "json")]
    pub verbose: bool,
}
