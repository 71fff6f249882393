//! The dependencies of the program.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use anyhow::Context;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId, TargetKind};

use crate::artefacts::archive;
use crate::workspace;

/// The package of the program.
const ROOT: &str = "windlass-cli";

/// One package.
#[derive(Debug, Clone)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) version: String,
    /// The registry's name; `None` for packages of the workspace.
    pub(super) registry: Option<String>,
    /// Its licence, as an SPDX expression.
    pub(super) licence: Option<String>,
    pub(super) description: Option<String>,
    pub(super) authors: Vec<String>,
    /// The directory with its sources.
    pub(super) folder: PathBuf,
    /// Whether its code is in the program. Otherwise it was only used in the
    /// build.
    pub(super) in_program: bool,
    /// The packages it uses, as indices into [`Dependencies::packages`].
    pub(super) uses: Vec<usize>,
}

/// All packages, by name and version.
#[derive(Debug, Clone)]
pub(super) struct Dependencies {
    pub(super) packages: Vec<Dependency>,
    /// The index of the program's own package.
    pub(super) root: usize,
}

impl Dependencies {
    /// Queries cargo for the packages of the program on this target.
    pub(super) fn read(triple: &str) -> anyhow::Result<Self> {
        let metadata = MetadataCommand::new()
            .current_dir(workspace::root())
            .other_options(vec!["--filter-platform".to_owned(), triple.to_owned()])
            .exec()
            .context("cannot ask cargo for the dependencies")?;
        Self::of(&metadata, &built(triple)?)
    }

    /// `built` names the packages that the program's features need; the
    /// metadata has those of the whole workspace.
    fn of(metadata: &Metadata, built: &HashSet<String>) -> anyhow::Result<Self> {
        let kinds = reachable(metadata)?;
        let mut ids: Vec<&PackageId> = kinds
            .keys()
            .filter(|id| {
                let package = &metadata[*id];
                built.contains(&format!("{} v{}", package.name, package.version))
            })
            .collect();
        ids.sort_by_key(|id| {
            let package = &metadata[*id];
            (package.name.to_string(), package.version.clone())
        });
        let place = |id: &PackageId| ids.iter().position(|other| *other == id);
        let nodes = &metadata.resolve.as_ref().context("no graph")?.nodes;
        let packages = ids
            .iter()
            .map(|id| {
                let package = &metadata[*id];
                let node = nodes.iter().find(|node| node.id == **id);
                let mut uses: Vec<usize> = node
                    .into_iter()
                    .flat_map(|node| &node.deps)
                    .filter(|dependency| dependency.dep_kinds.iter().any(|kind| is_used(kind.kind)))
                    .filter_map(|dependency| place(&dependency.pkg))
                    .collect();
                uses.sort_unstable();
                uses.dedup();
                Dependency {
                    name: package.name.to_string(),
                    version: package.version.to_string(),
                    registry: package.source.as_ref().map(|source| registry(&source.repr)),
                    licence: package.license.clone(),
                    description: package.description.clone(),
                    authors: package.authors.clone(),
                    folder: package
                        .manifest_path
                        .parent()
                        .map(|folder| folder.as_std_path().to_owned())
                        .unwrap_or_default(),
                    in_program: kinds[*id],
                    uses,
                }
            })
            .collect::<Vec<_>>();
        let root = packages
            .iter()
            .position(|package| package.name == ROOT)
            .with_context(|| format!("there is no package `{ROOT}`"))?;
        Ok(Self { packages, root })
    }

    /// Third-party packages whose code is in the program.
    pub(super) fn of_others(&self) -> impl Iterator<Item = &Dependency> {
        self.packages
            .iter()
            .filter(|package| package.in_program && package.registry.is_some())
    }
}

fn is_used(kind: DependencyKind) -> bool {
    matches!(kind, DependencyKind::Normal | DependencyKind::Build)
}

/// The packages below the program, and whether each is part of it. A macro and
/// its dependencies are not.
fn reachable(metadata: &Metadata) -> anyhow::Result<BTreeMap<PackageId, bool>> {
    let nodes = &metadata.resolve.as_ref().context("no graph")?.nodes;
    let root = metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name == ROOT)
        .with_context(|| format!("there is no package `{ROOT}`"))?;
    let mut found = BTreeMap::new();
    let mut open = vec![(root.id.clone(), true)];
    while let Some((id, in_program)) = open.pop() {
        let package = &metadata[&id];
        let is_macro = package
            .targets
            .iter()
            .any(|target| target.kind.contains(&TargetKind::ProcMacro));
        let in_program = in_program && !is_macro;
        match found.get(&id) {
            // Already visited with the same or a stronger result.
            Some(known) if *known || !in_program => continue,
            _ => found.insert(id.clone(), in_program),
        };
        let node = nodes.iter().find(|node| node.id == id);
        for dependency in node.into_iter().flat_map(|node| &node.deps) {
            for kind in &dependency.dep_kinds {
                if is_used(kind.kind) {
                    let normal = kind.kind == DependencyKind::Normal;
                    open.push((dependency.pkg.clone(), in_program && normal));
                }
            }
        }
    }
    Ok(found)
}

/// The packages that cargo builds for the program, as `name vVERSION`.
fn built(triple: &str) -> anyhow::Result<HashSet<String>> {
    let mut command = workspace::cargo_command();
    command.args(["tree", "--package", ROOT, "--edges", "normal,build"]);
    command.args(["--prefix", "none", "--format", "{p}", "--target", triple]);
    let list = archive::output(&mut command)?;
    let first_two = |line: &str| {
        let mut words = line.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?))
    };
    Ok(list.lines().filter_map(first_two).collect())
}

/// The registry's name, from cargo's name of its index.
fn registry(source: &str) -> String {
    let last = source.rsplit('/').next().unwrap_or(source);
    last.strip_suffix("-index").unwrap_or("registry").to_owned()
}
