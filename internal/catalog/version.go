package catalog

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// Version is a version of an operator that can be installed.
type Version struct {
	// Version is semantic, without a v.
	Version string `json:"version"`
	// Kubernetes is the range of versions that it runs on.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Provides are the APIs that it brings; empty for the kinds of the entry, in theirs.
	Provides  []solve.API         `json:"provides,omitempty"`
	Requires  []solve.Requirement `json:"requires,omitempty"`
	Conflicts []solve.Requirement `json:"conflicts,omitempty"`
	Source    Source              `json:"source"`
	// Namespace is where it is installed unless told otherwise.
	Namespace string `json:"namespace"`
	// Definitions says what is done about its CustomResourceDefinitions.
	Definitions DefinitionPolicy `json:"crds,omitempty"`
	// Ready are the workloads that must be Healthy before it is taken to be there; empty
	// for every workload that it has.
	Ready []Workload `json:"health,omitempty"`
	// Images are those that it runs.
	Images []Image `json:"images,omitempty"`
	// Examples are custom resources, as YAML, to begin with.
	Examples []string `json:"examples,omitempty"`
}

// DefinitionPolicy says what is done about definitions.
type DefinitionPolicy string

const (
	// Upgrade installs definitions, and upgrades them where that is safe. It is the default.
	Upgrade DefinitionPolicy = "upgrade"
	// Install installs definitions that are missing, and leaves the others alone.
	Install DefinitionPolicy = "install"
	// Leave is for operators that keep their definitions themselves.
	Leave DefinitionPolicy = "leave"
)

// Source says where a version comes from: exactly one of its fields is set.
type Source struct {
	Chart     *ChartSource     `json:"chart,omitempty"`
	Manifests []ManifestSource `json:"manifests,omitempty"`
	// Inline are manifests, as YAML.
	Inline string `json:"inline,omitempty"`
}

// ChartSource is a Helm chart: in an http(s) repository, in an OCI registry, or a file.
type ChartSource struct {
	Repository string `json:"repository,omitempty"` // https://charts.example.com
	OCI        string `json:"oci,omitempty"`        // oci://registry.example.com/charts/name
	// Path is a .tgz, or a folder, beside the entry. In a bundle all is by path.
	Path string `json:"path,omitempty"`
	// Name and Version are the chart's; Version as its project writes it, with or without v.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Digest is sha256:HEX: of the archive of a repository or a path, of the manifest in a
	// registry. What has none is fetched only when it is told that unverified is fine.
	Digest string `json:"digest,omitempty"`
	// Values are given to the chart, below what a System and the command line say.
	Values map[string]any `json:"values,omitempty"`
}

// ManifestSource is a file of manifests.
type ManifestSource struct {
	URL    string `json:"url,omitempty"`
	Path   string `json:"path,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // hex
}

// Workload is a Deployment, StatefulSet, DaemonSet, Job, or a custom resource.
type Workload struct {
	Kind string `json:"kind"` // Kind.group, Deployment.apps
	Name string `json:"name"`
}

// Image is a container image.
type Image struct {
	// Image is a reference, with its digest where that is known.
	Image string `json:"image"`
	// Platforms are those it has, linux/arm64; empty where that is not known.
	Platforms []string `json:"platforms,omitempty"`
}
