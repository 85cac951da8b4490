// Package krew writes and judges plugin manifests of krew, the plugin manager of kubectl. What
// krew and the CI of its index enforce, what its naming guide asks for, and what neither tells
// until a user has the plugin, are the rules of [Lint]. [Generate] writes manifests that keep
// them all.
//
// A manifest is one plugin in one version, with a platform for each archive that there is of
// it. An index is a git repository with a manifest for each of its plugins in plugins/.
package krew

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// The only type of object that krew reads, in its only version.
const (
	APIVersion = "krew.googlecontainertools.github.com/v1alpha2"
	Kind       = "Plugin"
)

// Extension is that of the files of an index.
const Extension = ".yaml"

// Manifest is a plugin in one version.
type Manifest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
}

// Metadata is the name: krew looks at nothing else.
type Metadata struct {
	Name string `json:"name"`
}

// Spec is what an index shows of a plugin, and its platforms.
type Spec struct {
	// Version is a whole semantic version with a leading v.
	Version          string     `json:"version"`
	Homepage         string     `json:"homepage,omitempty"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description,omitempty"`
	Caveats          string     `json:"caveats,omitempty"`
	Platforms        []Platform `json:"platforms"`
}

// Platform is an archive, and who gets it.
type Platform struct {
	// Selector selects by the labels os and arch, in Go's words.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// URI is where the archive is, by http or https.
	URI string `json:"uri"`
	// SHA256 is the sum of the archive: 64 lower-case hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Files say what is installed. Without any, everything is.
	Files []File `json:"files,omitempty"`
	// Bin is the executable among what is installed, with slashes.
	Bin string `json:"bin"`
}

// File moves what From, a path or a glob, finds in the archive to the path To.
type File struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Platforms are those that krew runs on. It installs for others too, but its index takes no
// manifest for them.
func Platforms() []suite.Platform {
	return []suite.Platform{
		{OS: "windows", Arch: "386"},
		{OS: "windows", Arch: "amd64"},
		{OS: "windows", Arch: "arm64"},
		{OS: "linux", Arch: "386"},
		{OS: "linux", Arch: "amd64"},
		{OS: "linux", Arch: "arm"},
		{OS: "linux", Arch: "arm64"},
		{OS: "linux", Arch: "ppc64le"},
		{OS: "darwin", Arch: "386"},
		{OS: "darwin", Arch: "amd64"},
		{OS: "darwin", Arch: "arm64"},
	}
}

// Parse reads a manifest as krew does: fields that it does not know are dropped. [Lint] tells
// of them.
func Parse(text []byte) (Manifest, error) {
	var m Manifest
	err := yaml.Unmarshal(text, &m)
	return m, err
}

// Selects says whether the platform is for that operating system and architecture. A
// selector that krew refuses, one that is missing or empty for one, selects nothing.
func (p Platform) Selects(on suite.Platform) bool {
	if p.Selector == nil || len(p.Selector.MatchLabels)+len(p.Selector.MatchExpressions) == 0 {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(p.Selector)
	return err == nil && selector.Matches(labels.Set{"os": on.OS, "arch": on.Arch})
}
