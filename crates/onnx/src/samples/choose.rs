//! Chooses some of many items: evenly across the classes, and the same ones every time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{BrokenFiles, SampleError, SampleItem, SamplePart, SampleSet, npz, picture};
use powerband_core::base::cancel::CancelToken;

impl SampleSet {
    /// Some of the items, all where there are no more. Each class gives as many as the others, as far
    /// as it has them, spread over all it has. Nothing is read.
    pub fn take(&self, n: usize) -> Self {
        let mut chosen: Vec<usize> = groups(&self.items, n)
            .into_iter()
            .flat_map(|group| group.chosen)
            .collect();
        chosen.sort_unstable();
        self.with_items(&chosen)
    }

    /// As `take`, but reads each picture and each archive to the end and takes another of its class in place of one that
    /// is broken. Takes as long as reading them; afterwards none of them fails unless its file changes.
    pub fn take_readable(&self, n: usize, cancel: &CancelToken) -> Result<Self, SampleError> {
        let mut broken = BrokenFiles::default();
        let mut sound = Vec::new();
        let mut archives = Archives::default();
        for group in groups(&self.items, n) {
            let wanted = group.chosen.len();
            let mut left = wanted;
            for index in group.chosen.into_iter().chain(group.others) {
                if left == 0 {
                    break;
                }
                if cancel.is_cancelled() {
                    return Err(SampleError::Cancelled);
                }
                let Some(item) = self.items.get(index) else {
                    continue;
                };
                let verdict = match item.part {
                    SamplePart::Picture => {
                        picture::check(&item.path).map_err(|why| why.to_string())
                    }
                    // All of it was promised and found when the header was read.
                    SamplePart::Array | SamplePart::Row(_) => Ok(()),
                    SamplePart::Archive | SamplePart::ArchiveRow(_) => archives.check(&item.path),
                };
                match verdict {
                    Ok(()) => {
                        sound.push(index);
                        left -= 1;
                    }
                    Err(why) => broken.add(&item.path, why),
                }
            }
        }
        if sound.is_empty() && broken.count > 0 {
            return Err(broken.error());
        }
        let looked_at = sound.len() + broken.count;
        sound.sort_unstable();
        let mut new = self.with_items(&sound);
        new.notes.extend(broken.note(looked_at));
        Ok(new)
    }

    fn with_items(&self, indices: &[usize]) -> Self {
        let items = indices.iter().filter_map(|&index| self.items.get(index));
        Self {
            items: items.cloned().collect(),
            classes: self.classes.clone(),
            notes: self.notes.clone(),
        }
    }
}

/// Archives that were read to their end, so that each is read once however many rows it has.
#[derive(Default)]
struct Archives(BTreeMap<PathBuf, Result<(), String>>);

impl Archives {
    fn check(&mut self, path: &Path) -> Result<(), String> {
        let read = || npz::check(path).map_err(|why| why.to_string());
        let known = self.0.entry(path.to_owned()).or_insert_with(read);
        known.clone()
    }
}

/// The items of one class, by their places.
struct Group {
    chosen: Vec<usize>,
    others: Vec<usize>,
}

fn groups(items: &[SampleItem], n: usize) -> Vec<Group> {
    let mut classes: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        classes.entry(item.label).or_default().push(index);
    }
    let sizes: Vec<usize> = classes.values().map(Vec::len).collect();
    let group = |(all, quota): (Vec<usize>, usize)| {
        let mut places = (0..quota).map(|k| k * all.len() / quota).peekable();
        let (mut chosen, mut others) = (Vec::new(), Vec::new());
        for (place, &index) in all.iter().enumerate() {
            if places.next_if_eq(&place).is_some() {
                chosen.push(index);
            } else {
                others.push(index);
            }
        }
        Group { chosen, others }
    };
    let quotas = quotas(&sizes, n);
    classes.into_values().zip(quotas).map(group).collect()
}

/// How many each class gives.
fn quotas(sizes: &[usize], n: usize) -> Vec<usize> {
    let mut quotas = vec![0; sizes.len()];
    let mut left = n.min(sizes.iter().sum());
    while left > 0 {
        let open: Vec<usize> = (0..sizes.len())
            .filter(|&class| quotas[class] < sizes[class])
            .collect();
        let share = left / open.len().max(1);
        if share == 0 {
            // Fewer than there are classes: spread over them.
            (0..left).for_each(|k| quotas[open[k * open.len() / left]] += 1);
            break;
        }
        for class in open {
            let more = share.min(sizes[class] - quotas[class]);
            quotas[class] += more;
            left -= more;
        }
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_give_alike() {
        for (sizes, n, expect) in [
            (&[10, 10, 10][..], 6, &[2, 2, 2][..]),
            (&[10, 10, 10], 8, &[3, 3, 2]),
            (&[1, 10, 10], 9, &[1, 4, 4]),
            (&[1, 0, 2], 9, &[1, 0, 2]),
            (&[5; 4], 2, &[1, 0, 1, 0]),
            (&[], 3, &[]),
            (&[7], 0, &[0]),
        ] {
            assert_eq!(quotas(sizes, n), expect, "{sizes:?} {n}");
        }
    }

    #[test]
    fn items_are_spread_over_their_class() {
        let item = |index: usize| SampleItem {
            path: format!("{index}").into(),
            label: Some(index % 2),
            part: SamplePart::Array,
        };
        let set = SampleSet {
            items: (0..20).map(item).collect(),
            ..Default::default()
        };
        let names = |set: &SampleSet| -> Vec<String> {
            let names = set.items.iter().map(|item| item.path.display().to_string());
            names.collect()
        };
        assert_eq!(names(&set.take(4)), ["0", "1", "10", "11"]);
        assert_eq!(set.take(20), set);
        assert_eq!(set.take(99), set);
        assert_eq!(set.take(0).items, []);
        let sound = set.take_readable(4, &CancelToken::default()).unwrap();
        assert_eq!(sound, set.take(4));
        let cancel = CancelToken::default();
        cancel.cancel();
        assert!(matches!(
            set.take_readable(4, &cancel),
            Err(SampleError::Cancelled)
        ));
    }
}
