//! The fonts that are built in, each of them once. How they were made is in `assets/fonts/`.

/// Words.
pub static TEXT: &[u8] = include_bytes!("../../../../assets/fonts/PowerbandText-Regular.ttf");
/// Words in a weight between regular and bold.
pub static TEXT_MEDIUM: &[u8] = include_bytes!("../../../../assets/fonts/PowerbandText-Medium.ttf");
/// Words in the weight of titles.
pub static TEXT_SEMIBOLD: &[u8] =
    include_bytes!("../../../../assets/fonts/PowerbandText-SemiBold.ttf");
/// Numbers.
pub static MONO: &[u8] = include_bytes!("../../../../assets/fonts/PowerbandMono-Regular.ttf");
/// Numbers in the weight of titles.
pub static MONO_SEMIBOLD: &[u8] =
    include_bytes!("../../../../assets/fonts/PowerbandMono-SemiBold.ttf");
/// Icons.
pub static ICONS: &[u8] = include_bytes!("../../../../assets/fonts/Icons.ttf");
