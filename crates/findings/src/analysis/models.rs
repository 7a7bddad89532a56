//! Which models are one. Everything that tells models apart asks here.

use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;

/// The model that a setup runs, however it was rewritten for that: fp16 and int8 of a network are that network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupModel {
    /// What it is called.
    pub name: String,
    /// SHA-256 of its file; empty where that is not known.
    sha256: String,
}

impl SetupModel {
    /// The model of a setup of a session.
    pub fn of_setup(session: &Session, setup: usize) -> Self {
        let own = session.plan.setups.get(setup).and_then(Setup::own_model);
        let networks = own.map_or_else(Vec::new, |_| session.networks());
        let own = networks
            .iter()
            .find(|network| network.setups.contains(&setup));
        let model = own.map_or(&session.model, |network| network.model);
        Self {
            name: model.name.clone(),
            sha256: model.sha256.clone(),
        }
    }

    /// Whether both are one model: they have one name, or their files are the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_known = !self.sha256.is_empty();
        self.name == other.name || (is_known && self.sha256 == other.sha256)
    }
}

/// The models among many in the order in which they come first, and for each of the many the place of its model.
pub fn distinct_models(
    many: impl IntoIterator<Item = SetupModel>,
) -> (Vec<SetupModel>, Vec<usize>) {
    let mut models: Vec<SetupModel> = Vec::new();
    let mut places = Vec::new();
    for one in many {
        let known = models.iter().position(|model| model.is_same(&one));
        places.push(known.unwrap_or(models.len()));
        if known.is_none() {
            models.push(one);
        }
    }
    (models, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;

    fn model(name: &str, sha256: &str) -> SetupModel {
        SetupModel {
            name: name.to_owned(),
            sha256: sha256.to_owned(),
        }
    }

    #[test]
    fn one_name_or_one_file_is_one_model() {
        let many = [
            model("resnet50", "a"),
            model("mobilenetv2", "b"),
            model("resnet50", "c"),
            model("renamed", "b"),
            model("other", ""),
            model("another", ""),
        ];
        let (models, places) = distinct_models(many);
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["resnet50", "mobilenetv2", "other", "another"]);
        assert_eq!(places, [0, 1, 0, 1, 2, 3]);
    }

    #[test]
    fn a_network_that_was_rewritten_is_the_same_model() {
        let mut session = session(&["ort:cpu", "ort:cpu,precision=int8"], &[1]);
        let mut int8 = session.model.clone();
        int8.name.push_str("-int8");
        int8.sha256 = "another file".to_owned();
        session.variants.insert(1, int8);
        let [first, second] = [0, 1].map(|setup| SetupModel::of_setup(&session, setup));
        assert_eq!(first, second);
    }

    #[test]
    fn a_setup_with_a_model_of_its_own_runs_that() {
        let mut session = session(&["ort:cpu", "ort:cpu,model=mobilenetv2"], &[1]);
        let mut own = session.model.clone();
        own.name = "mobilenetv2".to_owned();
        own.sha256 = "another file".to_owned();
        session.variants.insert(1, own);
        let [first, second] = [0, 1].map(|setup| SetupModel::of_setup(&session, setup));
        assert!(!first.is_same(&second));
        assert_eq!(second.name, "mobilenetv2");
    }
}
