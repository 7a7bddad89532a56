//! The benchmark that most tests of other machines run.

/// Quick rounds of these setups on a small network, as JSON.
pub(super) fn bench<'a>(
    rounds: &'a str,
    setups: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut args = vec!["bench", "resnet18@cifar", "--batch", "1"];
    args.extend(["--preset", "quick", "--rounds", rounds, "--json"]);
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args
}
