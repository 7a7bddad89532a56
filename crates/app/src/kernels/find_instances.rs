//! Finds the instances of the selected kernel in the timeline of its profile: the one that is open, or the file
//! beside the session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::instances::{InstanceChoice, InstanceSearch, InstancesLookup};
use super::trace_path::trace_path;
use super::{ProfileRef, profile};
use crate::backend::{Backend, FileProgress};
use crate::doors::ProfileDoor;
use crate::screen::Screen;
use crate::sessions::series;
use crate::shared::Shared;
use crate::timeline::Seek;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::breakdown::Scope;
use powerband_findings::analysis::instances::Instances;
use powerband_findings::chart::spec::SeriesId;
use powerband_findings::tables::instances::of_instances;

impl ProfileDoor {
    /// Looks for the instances of the selected kernel, where they are not known yet.
    pub(crate) fn look_for_instances(&mut self, shared: &Shared) {
        let Some((pick, kernel)) = self.kernel_of_profile(shared) else {
            self.kernels.instances.looked = None;
            self.kernels.instances.trace = None;
            return;
        };
        let state = &mut self.kernels.instances;
        state.trace.take_if(|(of, _)| *of != pick);
        let looked = state.looked.take();
        let looked = looked.filter(|looked| looked.pick == pick && looked.kernel == kernel);
        let looked = state.looked.insert(looked.unwrap_or(InstancesLookup {
            pick,
            kernel,
            progress: InstanceSearch::Looking,
            is_asked: false,
        }));
        let is_wanted = looked.progress == InstanceSearch::Looking && !looked.is_asked;
        if !is_wanted || !shared.shows(Screen::Kernels) {
            return;
        }
        if let Some(trace) = self.trace_of(pick) {
            return self.ask_for_instances(trace, shared);
        }
        if self.kernels.instances.reading == Some(pick) {
            return;
        }
        match trace_path(shared, pick) {
            Ok(path) => self.read_for_instances(pick, path, shared),
            Err(reason) => self.no_instances(pick, reason.to_owned()),
        }
    }

    /// The selected kernel, and the profile on the screen that has it: the one that is shown first.
    fn kernel_of_profile(&self, shared: &Shared) -> Option<(ProfileRef, String)> {
        let kernel = self.kernels.selected_kernel()?;
        let picks = [self.kernels.looking, self.kernels.before];
        let has_it = |pick: &ProfileRef| {
            let totals = profile(&shared.sessions, *pick).map(|profile| profile.totals.iter());
            totals.is_some_and(|mut totals| totals.any(|total| total.name == kernel))
        };
        let pick = picks.into_iter().flatten().find(has_it)?;
        Some((pick, kernel.to_owned()))
    }

    /// The timeline of a profile, where it is open or was read.
    fn trace_of(&self, pick: ProfileRef) -> Option<Arc<Trace>> {
        let owner = Some((pick.session, pick.profile));
        let mut open = self.timeline.traces.values();
        let open = open.find(|open| open.owner == owner);
        let read = self.kernels.instances.trace.as_ref();
        let read = read.filter(|(of, _)| *of == pick);
        open.map(|open| Arc::clone(&open.trace))
            .or_else(|| read.map(|(_, trace)| Arc::clone(trace)))
    }

    fn ask_for_instances(&mut self, trace: Arc<Trace>, shared: &Shared) {
        let Some(looked) = &mut self.kernels.instances.looked else {
            return;
        };
        let Some(profile) = profile(&shared.sessions, looked.pick) else {
            return;
        };
        looked.is_asked = true;
        let (pick, kernel, scope) = (
            looked.pick,
            looked.kernel.clone(),
            Scope::from_profile(profile),
        );
        let work = move || {
            (
                Instances::of_kernel(&trace, &kernel, scope).map(Arc::new),
                kernel,
            )
        };
        shared.jobs.spawn_for(
            "instances",
            work,
            move |door: &mut Self, (found, kernel), shared| {
                door.instances_found(pick, &kernel, found, shared);
            },
        );
    }

    fn read_for_instances(&mut self, pick: ProfileRef, path: PathBuf, shared: &Shared) {
        self.kernels.instances.reading = Some(pick);
        let backend = Arc::clone(&shared.backend);
        let broken = move |door: &mut Self, why, shared: &mut Shared| {
            door.trace_of_kernels(pick, Err(why), shared);
        };
        shared
            .jobs
            .spawn_or_for("read-trace", broken, move |outlet| {
                let read = read(&path, &*backend);
                outlet.send_to(move |door: &mut Self, shared| {
                    door.trace_of_kernels(pick, read, shared);
                });
            });
    }

    /// The timeline of a profile was read for its instances, or not.
    fn trace_of_kernels(
        &mut self,
        pick: ProfileRef,
        read: Result<Arc<Trace>, String>,
        shared: &Shared,
    ) {
        self.kernels.instances.reading.take_if(|of| *of == pick);
        match read {
            Ok(trace) => {
                self.kernels.instances.trace = Some((pick, trace));
                self.look_for_instances(shared);
            }
            Err(reason) => self.no_instances(pick, reason),
        }
    }

    fn no_instances(&mut self, pick: ProfileRef, reason: String) {
        let looked = self.kernels.instances.looked.as_mut();
        if let Some(looked) = looked.filter(|looked| looked.pick == pick) {
            looked.progress = InstanceSearch::Missing(reason);
        }
    }

    /// Instances were looked for; dropped where another kernel was selected since.
    fn instances_found(
        &mut self,
        pick: ProfileRef,
        kernel: &str,
        found: Option<Arc<Instances>>,
        shared: &mut Shared,
    ) {
        let looked = self.kernels.instances.looked.as_mut();
        let looked = looked.filter(|looked| looked.pick == pick && looked.kernel == kernel);
        if let Some(looked) = looked {
            looked.progress = found.map_or_else(
                || InstanceSearch::Missing("the timeline has no such name".to_owned()),
                InstanceSearch::Found,
            );
            if let Some(which) = self.kernels.instances.wanted.take() {
                self.show_instance(which, shared);
            }
        }
        self.list_instances(shared);
    }

    /// The table of the instances of the selected kernel.
    pub(crate) fn list_instances(&self, shared: &mut Shared) {
        let looked = self.kernels.instances.looked.as_ref();
        match looked.map(|looked| &looked.progress) {
            Some(InstanceSearch::Found(found)) => {
                let table = of_instances(&found.longest);
                shared.tables.set_table("instances", table);
            }
            _ => shared.tables.remove("instances"),
        }
    }

    /// The setup whose graph the engine stated, of the profile that has the selected kernel: its series.
    pub fn graph_of_profile(&self, shared: &Shared) -> Option<SeriesId> {
        let pick = self.kernels.instances.looked.as_ref()?.pick;
        let setup = profile(&shared.sessions, pick)?.case?.setup;
        let session = &shared.sessions.get(pick.session)?.session;
        let is_examined = session.examinations.contains_key(&setup);
        is_examined.then(|| series(pick.session, setup))
    }

    /// The first or the longest instance, on the timeline.
    pub(crate) fn show_instance(&mut self, which: InstanceChoice, shared: &mut Shared) {
        let Some(looked) = &self.kernels.instances.looked else {
            return;
        };
        let InstanceSearch::Found(found) = &looked.progress else {
            self.kernels.instances.wanted = Some(which);
            return;
        };
        let start_ns = match which {
            InstanceChoice::First => found.first_ns,
            InstanceChoice::Longest => found.longest_ns,
            InstanceChoice::At(start_ns) => start_ns,
        };
        let seek = Seek::Slice(looked.kernel.clone(), start_ns);
        self.show_timeline_of(looked.pick, Some(seek), shared);
    }
}

/// Reads the timeline of a profile.
fn read(path: &Path, backend: &dyn Backend) -> Result<Arc<Trace>, String> {
    let missing = || "the timeline's file is missing".to_owned();
    let sets = backend.file_sets(&[path.to_owned()]);
    let set = sets.first().ok_or_else(missing)?;
    let read = backend.read_timeline(set, &FileProgress::default());
    Ok(read.map_err(|reason| reason.unwrap_or_else(missing))?.trace)
}
