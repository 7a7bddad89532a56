//! Arguments of `serve`.

use std::path::PathBuf;

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It listens on this machine alone, and its address has a secret in it, which is another one at each start.
Nothing can be measured, opened or written through it. From another machine, through ssh:
  ssh -L 8080:127.0.0.1:8080 gpu-box powerband serve --port 8080

Without a SESSION the page lists those of the library, as they are at that moment.")]
pub(crate) struct ServeArgs {
    /// Sessions, which one page has together [default: a list of the library].
    #[arg(value_name = "SESSION.ron")]
    pub sessions: Vec<PathBuf>,
    /// The port [default: a free one].
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub port: u16,
}
