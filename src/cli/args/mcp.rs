//! Arguments of `mcp`.

/// Arguments of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It speaks the Model Context Protocol in lines of JSON on standard input and output, until standard input
closes. Its tools read: sessions, summary, compare, kernels, why, history. None of them starts a run, writes a
session or sends anything.

  {\"mcpServers\": {\"powerband\": {\"command\": \"powerband\", \"args\": [\"mcp\"]}}}")]
pub(crate) struct McpArgs {
    /// Offer a tool that measures, too: bench. It starts no command that a setup names.
    #[arg(long)]
    pub allow_runs: bool,
}
