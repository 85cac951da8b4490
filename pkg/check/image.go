package check

import (
	"strings"
)

// Image is the reference of a container image: REGISTRY/REPOSITORY:TAG@DIGEST. Parts that are
// not written are empty.
type Image struct{ Registry, Repository, Tag, Digest string }

// ParseImage reads the reference of an image. As in container runtimes, a first part with a
// dot or a port is the registry.
func ParseImage(text string) Image {
	var i Image
	text, i.Digest, _ = strings.Cut(text, "@")
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, '/') {
		text, i.Tag = text[:at], text[at+1:]
	}
	i.Repository = text
	if host, rest, ok := strings.Cut(text, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		i.Registry, i.Repository = host, rest
	}
	return i
}

// Name is the last part of the repository: cert-manager-controller.
func (i Image) Name() string { return i.Repository[strings.LastIndexByte(i.Repository, '/')+1:] }

// IsFixed reports whether the image has a digest, or a tag other than latest.
func (i Image) IsFixed() bool { return i.Digest != "" || i.Tag != "" && i.Tag != "latest" }
