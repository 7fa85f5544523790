//! Which identities of one scope are members of those of another: accounts of schools, say.

use std::collections::BTreeMap;

use super::{
    Source,
    environments::{Names, known},
    problem::{Located, Problems},
    section::Section,
};

/// A table of whose members the identities of a scope are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// The scope of the members.
    pub scope: String,
    /// The scope that they are members of.
    pub of: String,
    /// Whose member each is. One that is missing counts as itself.
    pub table: BTreeMap<String, String>,
}

impl Members {
    /// Whether a source tells of the members alone. One that tells of several scopes counts a request under each, those
    /// that it is a part of too.
    #[must_use]
    pub fn are_told_by(&self, source: &Source) -> bool {
        source.constants.scope.as_ref() == Some(&self.scope)
    }
}

/// Reads the tables of scopes: the scope of the members, the name of the other, and the table.
pub(super) fn read_members(
    sections: Vec<(String, Located<String>, Section<'_>)>,
    scopes: &Names,
    problems: &mut Problems,
) -> Vec<Located<Members>> {
    let parts: Names = sections.iter().map(|(scope, ..)| scope.clone()).collect();
    let mut all = Vec::new();
    for (scope, of, section) in sections {
        known(scopes, "scope", &of, problems);
        if parts.contains(&of.value) {
            problems.add(
                &of.place,
                format!(
                    "`{}` is itself part of a scope: no limit would look so far",
                    of.value
                ),
                "name the scope at the end of the chain, and write its identities in this table",
            );
        }
        let table = section.texts("\"school-1\"", problems);
        all.push(Located {
            place: of.place,
            value: Members {
                scope,
                of: of.value,
                table,
            },
        });
    }
    all
}

/// Notes a table that no source has a use for.
pub(super) fn check_members(all: &[Located<Members>], sources: &[Source], problems: &mut Problems) {
    for Located {
        value: members,
        place,
    } in all
    {
        if !sources.iter().any(|source| members.are_told_by(source)) {
            problems.add(
                place,
                format!("no source tells of `{}` alone", members.scope),
                format!(
                    "write scope = \"{}\" in the source, in place of {{scope}}, or leave the table out",
                    members.scope
                ),
            );
        }
    }
}
