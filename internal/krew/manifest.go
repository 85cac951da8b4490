// Package krew writes plugin manifests of krew, the plugin manager of kubectl. test/krew runs krew
// and the CI of its index on them.
//
// A manifest is one plugin in one version, with a platform for each of its archives. An index is a
// git repository with a manifest for each of its plugins in plugins/.
package krew

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The only type that krew reads, in its only version.
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

// Metadata is the name: krew reads nothing else.
type Metadata struct {
	Name string `json:"name"`
}

// Spec is what an index shows of a plugin, and its platforms.
type Spec struct {
	// Version is a complete semantic version with a leading v.
	Version          string     `json:"version"`
	Homepage         string     `json:"homepage,omitempty"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description,omitempty"`
	Caveats          string     `json:"caveats,omitempty"`
	Platforms        []Platform `json:"platforms"`
}

// Platform is an archive with the platforms that use it.
type Platform struct {
	// Selector selects by the labels os and arch, in Go's words.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// URI is the address of the archive, by http or https.
	URI string `json:"uri"`
	// SHA256 is the sum of the archive: 64 lower-case hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Bin is the executable in the archive, with slashes.
	Bin string `json:"bin"`
}
