//! What the card beside the pointer says.

/// What a card says: a title, and pairs of a name and a value.
pub(crate) struct CardText {
    pub(super) title: String,
    pub(super) pairs: Vec<(&'static str, String)>,
}
