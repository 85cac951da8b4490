package catalog

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// Version is a version of an operator that can be installed.
type Version struct {
	// Version is semantic, without a v.
	Version string `json:"version" read:"semver,required"`
	// Kubernetes is the range of versions that it runs on.
	Kubernetes string `json:"kubernetes,omitempty" read:"range"`
	// Provides are the APIs that it brings along; empty for the kinds of the entry in their versions.
	Provides  []solve.API         `json:"provides,omitempty" read:",flow,max=500" want:"a list of the APIs that the version provides: {kind: Kind.group, versions: [v1]}"`
	Requires  []solve.Requirement `json:"requires,omitempty" read:"requires,max=500" want:"a list of what the version needs: {api: Kind.group} or {package: NAME}"`
	Conflicts []solve.Requirement `json:"conflicts,omitempty" read:"conflicts,max=500" want:"a list of packages that it conflicts with: {package: NAME}"`
	Source    Source              `json:"source" read:"source,required"`
	// Namespace is where it is installed by default.
	Namespace string `json:"namespace" read:"label,required"`
	// Definitions says what is done about its CustomResourceDefinitions.
	Definitions DefinitionPolicy `json:"crds,omitempty" read:"policy"`
	// Ready are the workloads that must be Healthy before it is taken to be there; empty
	// for every workload that it has.
	Ready []Workload `json:"health,omitempty" read:",flow,max=500" want:"a list of workloads: {kind: Deployment.apps, name: NAME}"`
	// Images are those that it runs.
	Images []Image `json:"images,omitempty" read:"image,max=500" want:"a list of images"`
	// Examples are custom resources, as YAML, to begin with.
	Examples []string `json:"examples,omitempty" read:"example,max=500" want:"a list of custom resources, each as text"`
}

// DefinitionPolicy says what is done about definitions.
type DefinitionPolicy string

const (
	// Upgrade installs definitions, and upgrades them where that is safe. It is the default.
	Upgrade DefinitionPolicy = "upgrade"
	// Install installs definitions that are missing, and does not change the others.
	Install DefinitionPolicy = "install"
	// Leave is for operators that keep their definitions themselves.
	Leave DefinitionPolicy = "leave"
)

// Source says where a version comes from: exactly one of its fields is set.
type Source struct {
	Chart     *ChartSource     `json:"chart,omitempty" read:"chart"`
	Manifests []ManifestSource `json:"manifests,omitempty" read:"manifest,max=500" want:"a list of files: {url: https://..., sha256: HEX} or {path: FILE}"`
	// Inline are manifests, as YAML.
	Inline string `json:"inline,omitempty" read:"inline"`
}

// ChartSource is a Helm chart: in an http(s) repository, in an OCI registry, or a file.
type ChartSource struct {
	Repository string `json:"repository,omitempty" read:"url"` // https://charts.example.com
	OCI        string `json:"oci,omitempty" read:"oci"`        // oci://registry.example.com/charts/name
	// Path is a .tgz, or a directory, next to the entry. In a bundle every source is a path.
	Path string `json:"path,omitempty" read:"path"`
	// Name and Version are the chart's; Version as its project writes it, with or without v.
	Name    string `json:"name,omitempty" read:"chartName"`
	Version string `json:"version,omitempty" read:"chartVersion"`
	// Digest is sha256:HEX: of the archive of a repository or a path, of the manifest in a
	// registry. A source without one is fetched with --unverified only.
	Digest string `json:"digest,omitempty" read:"digest"`
	// Values are given to the chart, below what a System and the command line say.
	Values map[string]any `json:"values,omitempty" read:"values"`
}

// ManifestSource is a file of manifests.
type ManifestSource struct {
	URL    string `json:"url,omitempty" read:"url,unique"`
	Path   string `json:"path,omitempty" read:"path,unique"`
	SHA256 string `json:"sha256,omitempty" read:"sum"` // hex
}

// Workload is a Deployment, StatefulSet, DaemonSet, Job, or a custom resource.
type Workload struct {
	Kind string `json:"kind" read:"groupKind,required,unique"` // Kind.group, Deployment.apps
	Name string `json:"name" read:"object,required,unique"`
}

// Image is a container image.
type Image struct {
	// Image is a reference, with its digest where that is known.
	Image string `json:"image" read:"reference,required,unique"`
	// Platforms are those it has, linux/arm64; empty where that is unknown.
	Platforms []string `json:"platforms,omitempty" read:"platform,max=500" want:"a list of platforms: [linux/amd64, linux/arm64]"`
}
