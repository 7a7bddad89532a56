//! Options that are fields of a plan, made of the list of these fields: all of them for `bench`, some for other
//! commands.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, ValueHint};

use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::request::RunRequest;
use powerband_planning::form::fields::{self, FieldInfo, OptionForm};
use powerband_planning::form::{Draft, GivenOptions, PlanField, check_option};

/// The fields that a command has options for.
pub(crate) trait FieldSet {
    /// Whether it has one for this field.
    fn contains(field: PlanField) -> bool;

    /// The option with what it cannot be given with.
    fn limited(_: PlanField, option: Arg) -> Arg {
        option
    }
}

/// All fields.
#[derive(Clone, Debug)]
pub(crate) enum PlanFields {}

impl FieldSet for PlanFields {
    fn contains(_: PlanField) -> bool {
        true
    }

    fn limited(field: PlanField, option: Arg) -> Arg {
        use PlanField as F;
        // What is asked of sessions that were measured already.
        let is_of_more = matches!(field, F::Rounds | F::Spacing);
        let is_of_again = is_of_more
            || matches!(field, F::Blocks | F::Energy | F::Profile | F::ProfileStarts)
            || matches!(field, F::Name | F::Seed | F::Timeout);
        let sessions = [("more", is_of_more), ("again", is_of_again)].into_iter();
        let refused = sessions.filter(|(_, takes)| !takes).map(|(name, _)| name);
        let option = option.conflicts_with_all(refused);
        match field {
            F::Model | F::Setup(_) => option.conflicts_with("ladder"),
            F::MachinesAtOnce => option.conflicts_with_all(["one-at-a-time", "detach"]),
            _ => option,
        }
    }
}

/// What a network is fed.
#[derive(Clone, Debug)]
pub(crate) enum InputFields {}

impl FieldSet for InputFields {
    fn contains(field: PlanField) -> bool {
        use PlanField as F;
        matches!(field, F::Shapes | F::Fills | F::BatchAxis)
    }
}

/// The same, and what a sweep calls dimensions.
#[derive(Clone, Debug)]
pub(crate) enum CaseFields {}

impl FieldSet for CaseFields {
    fn contains(field: PlanField) -> bool {
        field == PlanField::Dims || InputFields::contains(field)
    }
}

/// When cases have their turns.
#[derive(Clone, Debug)]
pub(crate) enum TurnFields {}

impl FieldSet for TurnFields {
    fn contains(field: PlanField) -> bool {
        matches!(field, PlanField::Spacing | PlanField::Blocks)
    }
}

/// What options say of the fields of a set.
#[derive(Clone, Debug)]
pub(crate) struct FieldOptions<S> {
    given: GivenOptions,
    set: PhantomData<S>,
}

impl<S> FieldOptions<S> {
    /// Whether anything is said.
    pub(crate) fn is_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Whether something is said of a field.
    pub(crate) fn gives(&self, field: PlanField) -> bool {
        self.values(field).next().is_some()
    }

    /// What is said of a field.
    pub(crate) fn values(&self, field: PlanField) -> impl Iterator<Item = &str> {
        let own = self.given.iter();
        let own = own.filter(move |(given, _)| given.info().option == field.info().option);
        own.map(|(_, text)| text.as_str())
    }

    /// The request for a plan with what is said.
    pub(crate) fn request(&self, plan: Draft) -> anyhow::Result<RunRequest> {
        let request = plan.with_options(&self.given)?.request();
        request.map_err(|errors| {
            let first = errors.first().map(ToString::to_string);
            anyhow::Error::msg(first.unwrap_or_default())
        })
    }

    /// What is said of the sizes and values of inputs.
    pub(crate) fn sizes(&self) -> anyhow::Result<InputSizes> {
        Ok(self.request(Draft::default())?.sizes)
    }

    /// The same with other setups.
    pub(crate) fn with_setups(&self, setups: Vec<String>) -> Self {
        let is_other = |(field, _): &&(PlanField, String)| !matches!(field, PlanField::Setup(_));
        let others = self.given.iter().filter(is_other).cloned();
        let setups = setups.into_iter().enumerate();
        let setups = setups.map(|(place, spec)| (PlanField::Setup(place), spec));
        Self {
            given: setups.chain(others).collect(),
            set: PhantomData,
        }
    }
}

impl<S: FieldSet> clap::Args for FieldOptions<S> {
    fn augment_args(command: Command) -> Command {
        let own = fields::ALL.iter().filter(|info| S::contains(info.field));
        command.args(own.map(|info| S::limited(info.field, option(info))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: FieldSet> FromArgMatches for FieldOptions<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self> {
        let own = fields::ALL.iter().filter(|info| S::contains(info.field));
        Ok(Self {
            given: own.flat_map(|info| given(info, matches)).collect(),
            set: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<()> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The option of a field.
fn option(info: &FieldInfo) -> Arg {
    let option = Arg::new(info.option).help(format!("{}{}", info.help, info.usage));
    let option = match info.form {
        OptionForm::Argument => option,
        _ => option.long(info.option),
    };
    let option = match info.needs {
        "" => option,
        needed => option.requires(needed),
    };
    if info.form == OptionForm::Switch {
        return option.action(ArgAction::SetTrue);
    }
    let hint = match info.value_name {
        "PATH" => ValueHint::AnyPath,
        _ => ValueHint::Unknown,
    };
    let option = option
        .value_name(info.value_name)
        .value_hint(hint)
        .value_parser(ValueParser(info.field));
    match info.form {
        OptionForm::Values => option.action(ArgAction::Append),
        OptionForm::ValueOr(usual) => option
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(usual),
        // A range that begins with a minus has its own reason.
        _ => option.allow_hyphen_values(info.field == PlanField::Batches),
    }
}

/// What is given of a field.
fn given(info: &FieldInfo, matches: &ArgMatches) -> GivenOptions {
    if info.form == OptionForm::Switch {
        let is_on = matches.get_flag(info.option);
        return Vec::from_iter(is_on.then(|| (info.field, String::new())));
    }
    let values = matches.get_many::<String>(info.option);
    let values = values.into_iter().flatten().enumerate();
    values
        .map(|(place, text)| (info.field.numbered(place), text.clone()))
        .collect()
}

/// Refuses what the plan would refuse, and names what can be chosen.
#[derive(Clone, Debug)]
struct ValueParser(PlanField);

impl TypedValueParser for ValueParser {
    type Value = String;

    fn parse_ref(&self, command: &Command, option: Option<&Arg>, text: &OsStr) -> Result<String> {
        let Self(field) = *self;
        let checked = move |text: String| check_option(field, &text).map(|()| text);
        let parser = StringValueParser::new().try_map(checked);
        parser.parse_ref(command, option, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let choices = self.0.choices();
        if choices.is_empty() {
            return None;
        }
        let choices = choices.into_iter();
        Some(Box::new(
            choices.map(|(value, help)| PossibleValue::new(value).help(help)),
        ))
    }
}
