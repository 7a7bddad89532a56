//! Background work of a door: its result comes back to the door that asked for it, with what is shared.

use crate::App;
use crate::derived::Derived;
use crate::doors::DoorState;
use crate::jobs::{Jobs, Outlet};
use crate::shared::Shared;

/// A report to a door, as one to the application.
fn in_door<D: DoorState>(report: impl FnOnce(&mut D, &mut Shared)) -> impl FnOnce(&mut App) {
    move |app| {
        let (door, shared) = D::in_app(app);
        report(door, shared);
    }
}

impl Outlet {
    /// Sends a report to a door.
    pub(crate) fn send_to<D: DoorState + 'static>(
        &self,
        report: impl FnOnce(&mut D, &mut Shared) + Send + 'static,
    ) {
        self.send(in_door(report));
    }
}

impl Jobs {
    /// Runs work on a background thread, and hands its result to the door that asked for it.
    pub(crate) fn spawn_for<D: DoorState + 'static, T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
        take: impl FnOnce(&mut D, T, &mut Shared) + Send + 'static,
    ) {
        self.spawn_then(name, work, |app, result| {
            let (door, shared) = D::in_app(app);
            take(door, result, shared);
        });
    }

    /// The same for a door: it takes a panic in.
    pub(crate) fn spawn_or_for<D: DoorState + 'static>(
        &self,
        name: &str,
        broken: impl FnOnce(&mut D, String, &mut Shared) + Clone + Send + 'static,
        work: impl FnOnce(&Outlet) + Send + 'static,
    ) {
        let broken = |app: &mut App, why| {
            let (door, shared) = D::in_app(app);
            broken(door, why, shared);
        };
        self.spawn_or(name, broken, work);
    }
}

impl Shared {
    /// Computes what `derived` has, in the background, and calls `settle` once it is there. Work without a value is not
    /// asked for again.
    pub(crate) fn derive<D: DoorState + 'static, Key, Value>(
        &self,
        door: &mut D,
        name: &str,
        derived: fn(&mut D) -> &mut Derived<Key, Value>,
        key: Key,
        work: impl FnOnce(&Key) -> Option<Value> + Send + 'static,
        settle: fn(&mut D, &mut Self),
    ) where
        Key: Clone + PartialEq + Send + 'static,
        Value: Send + 'static,
    {
        derived(door).busy = Some(key.clone());
        let compute = move || Some((work(&key)?, key));
        self.jobs
            .spawn_for(name, compute, move |door: &mut D, found, shared| {
                if let Some((value, key)) = found {
                    derived(door).take(key, value);
                    settle(door, shared);
                }
            });
    }
}
