package helm

import "github.com/kubectl-sysop/kubectl-sysop/pkg/system"

// Labels of the records of releases.
const (
	// RunLabel is on the records of releases: the run that created the revision.
	RunLabel = "sysop.dev/run"
	// PackageLabel and SystemLabel are on the records of releases, and PackageLabel on definitions
	// too: the package or System that they belong to.
	PackageLabel = "sysop.dev/package"
	SystemLabel  = system.Label
	// SystemNamespaceLabel is on the records of releases beside SystemLabel: the namespace of the
	// System.
	SystemNamespaceLabel = "sysop.dev/system-namespace"
	// InstallationLabel and InstallationNamespaceLabel are on the records of releases outside a
	// System: the installation whose journal records their needs.
	InstallationLabel          = "sysop.dev/installation"
	InstallationNamespaceLabel = "sysop.dev/installation-namespace"
	// VersionLabel is on the records and the definitions of packages: the version of the package,
	// which may differ from that of the chart. A + is written as _.
	VersionLabel = "sysop.dev/version"
)
