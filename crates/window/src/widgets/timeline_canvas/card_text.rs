//! Text of the card beside the pointer.

/// Text of a card: a title, and pairs of a name and a value.
pub(crate) struct CardText {
    pub(super) title: String,
    pub(super) pairs: Vec<(String, String)>,
}
