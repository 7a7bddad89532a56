//! What a screen computes in the background: what it is of, what is computed now, and the result.
//!
//! A result may be out of date; it stays until there is a newer one. A screen settles what it shows, asks whether that needs to be computed, and hands the work to `Shared::derive`.

/// A value that is computed in the background. The key has everything that it depends on.
#[derive(Debug)]
pub struct Derived<Key, Value> {
    /// The result, once it is ready.
    pub result: Option<Value>,
    /// What the result is of.
    key: Option<Key>,
    /// What is computed now; older requests are no longer waited for.
    pub(crate) busy: Option<Key>,
    /// Whether something beside the key has changed since.
    is_outdated: bool,
}

impl<Key, Value> Default for Derived<Key, Value> {
    fn default() -> Self {
        Self {
            result: None,
            key: None,
            busy: None,
            is_outdated: false,
        }
    }
}

impl<Key: PartialEq, Value> Derived<Key, Value> {
    /// What is computed now.
    pub fn busy(&self) -> Option<&Key> {
        self.busy.as_ref()
    }

    /// Whether the result is of this key, and so up to date.
    pub(crate) fn is_of(&self, key: &Key) -> bool {
        self.result.is_some() && self.key.as_ref() == Some(key) && !self.is_outdated
    }

    /// Whether it has to be computed for this key: it is neither there nor on its way.
    pub(crate) fn needs(&self, key: &Key) -> bool {
        !self.is_of(key) && self.busy.as_ref() != Some(key)
    }

    /// What it depends on has changed: it has to be computed again, and the result stays until then.
    pub(crate) fn outdate(&mut self) {
        self.is_outdated = true;
    }

    /// Drops a result that is no longer shown.
    pub(crate) fn keep_if(&mut self, is_shown: impl FnOnce(&Key) -> bool) {
        if !self.key.as_ref().is_some_and(is_shown) {
            self.drop_result();
        }
    }

    /// Drops the result; one that is on its way is taken in all the same.
    pub(crate) fn drop_result(&mut self) {
        self.result = None;
        self.key = None;
    }

    /// Drops the result and the one on its way: what they depend on beside their keys has changed.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Takes in a result.
    pub(crate) fn put(&mut self, key: Key, value: Value) {
        self.result = Some(value);
        self.key = Some(key);
        self.is_outdated = false;
    }

    pub(crate) fn take(&mut self, key: Key, value: Value) {
        if self.busy.take_if(|busy| *busy == key).is_some() {
            self.put(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outdated_result_is_shown_until_there_is_a_newer_one() {
        let mut derived = Derived::default();
        derived.put("key", 1);
        derived.outdate();
        derived.keep_if(|key| *key == "key");
        assert_eq!(derived.result, Some(1));
        assert!(derived.needs(&"key") && !derived.is_of(&"key"));
        derived.put("key", 2);
        assert!(derived.is_of(&"key"));
    }

    #[test]
    fn the_last_request_counts_and_an_outdated_result_stays_until_then() {
        let mut derived = Derived::default();
        assert!(derived.needs(&(1, "old")));
        derived.busy = Some((1, "old"));
        assert!(!derived.needs(&(1, "old")));
        derived.take((1, "old"), "first");
        assert!(derived.is_of(&(1, "old")) && derived.busy().is_none());

        // The session changed: the result stays on the screen, and is computed again.
        assert!(derived.needs(&(1, "new")));
        derived.keep_if(|key| key.0 == 1);
        assert_eq!(derived.result, Some("first"));
        derived.busy = Some((1, "newer"));
        derived.take((1, "new"), "late");
        assert_eq!(derived.result, Some("first"), "no longer waited for");
        derived.take((1, "newer"), "second");
        assert_eq!(derived.result, Some("second"));

        derived.keep_if(|key| key.0 == 2);
        assert_eq!(derived.result, None);
        derived.busy = Some((2, "new"));
        derived.forget();
        assert!(derived.needs(&(2, "new")));
    }
}
