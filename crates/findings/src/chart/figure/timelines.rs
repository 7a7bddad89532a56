//! The timeline of a profile, or of two that are compared.

use std::collections::BTreeSet;

use super::super::lanes;
use super::super::ribbon::Ribbon;
use super::super::timeline_figure::TimelineFigure;
use super::make;
use super::{Drawing, FigureInputs};
use powerband_core::base::humanize;

/// The timeline.
pub(super) fn timeline(material: &FigureInputs<'_>) -> Result<Drawing, String> {
    let profile = make::profile(&material.after, material.profile)?;
    let compared = material.merged.map(|(merged, is_aligned)| {
        let timeline = merged.timeline(is_aligned);
        (&*merged.trace, &**timeline)
    });
    let Some((trace, timeline)) = compared.or(material.trace) else {
        return Err(format!(
            "the profile {} has sums only, and no timeline",
            profile.name
        ));
    };
    let whole = timeline.full_range();
    let steps = material
        .merged
        .map(|(merged, is_aligned)| merged.steps_range(is_aligned));
    let stretch = material.stretch.or(steps).unwrap_or(whole);
    if stretch.to <= whole.from || stretch.from >= whole.to || stretch.length() <= 0.0 {
        return Err(format!(
            "nothing ran in that range; the timeline ends after {}",
            humanize::duration_ns(whole.length())
        ));
    }
    let title = match material.merged {
        Some(_) => {
            let session = material.before.as_ref().unwrap_or(&material.after);
            let before = make::profile(session, material.profile_before)?;
            format!("{} → {}", before.name, profile.name)
        }
        None => format!("Timeline of {}", profile.name),
    };
    let all = 0..timeline.tracks.len();
    let is_of_device = |place: &usize| {
        let track = trace.tracks.get(timeline.tracks[*place].track as usize);
        track.is_some_and(|track| track.device.is_some())
    };
    let mut tracks: Vec<usize> = all.clone().collect();
    // Threads of two hosts would push the devices apart.
    if material.merged.is_some() && all.clone().any(|place| is_of_device(&place)) {
        tracks.retain(is_of_device);
    }
    let ready = (trace, timeline);
    let mut traced = TimelineFigure::new(title, ready, stretch, &BTreeSet::new(), &tracks);
    traced.more += timeline.tracks.len() - tracks.len();
    match material.merged {
        Some((merged, is_aligned)) => traced.ribbon = Some(Ribbon::new(merged, is_aligned)),
        None => {
            traced.lanes = lanes::of_profile(material.after.session, profile, timeline.length_ns);
        }
    }
    Ok(Drawing::Timeline(Box::new(traced)))
}
