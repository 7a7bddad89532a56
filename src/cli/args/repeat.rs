//! Arguments of `repeat`.

use std::path::PathBuf;

use super::Detail;

/// Arguments of `repeat`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  powerband repeat paper.ron                    the same plan here, and what came out otherwise
  powerband repeat paper.ron --out mine.ron

Runs at different times differ by what sessions differ by: a case is reproduced where that explains the
whole difference. What differs between the two environments stands on top.

Exit status: 0 all reproduced, 1 something is faster or slower, 2 something cannot be compared.")]
pub(crate) struct RepeatArgs {
    /// The session whose plan is measured again.
    pub session: PathBuf,
    /// Run the commands, and load the libraries, that the session names, as bench has it.
    #[arg(long)]
    pub allow_commands: bool,
    /// Where to write the new session [default: the library].
    #[arg(long, value_name = "FILE.ron")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub detail: Detail,
    /// Print one JSON document on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
}
