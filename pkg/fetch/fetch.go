// Package fetch gets what a catalogue names (charts, manifests, catalogues themselves) over
// http(s), from an OCI registry, from a file or from a bundle; bounded, verified by digest and
// signature, and kept by digest. It fetches nothing that it is not asked for.
package fetch

import "time"

// Limits bound what is taken from others.
type Limits struct {
	// Bytes is the most that one file has as it travels, Unpacked what an archive has
	// unpacked, Files how many.
	Bytes, Unpacked int64
	Files           int
	Time            time.Duration
}

// DefaultLimits are meant to be met by every honest chart and catalogue.
var DefaultLimits = Limits{Bytes: 64 << 20, Unpacked: 256 << 20, Files: 10000, Time: 2 * time.Minute}

// Artifact is what was fetched.
type Artifact struct {
	// Data is the file: of a chart its archive (.tgz), of manifests their text.
	Data []byte
	// Digest is sha256:HEX, of what Source said it to be of.
	Digest string
	// From is where it came from, for people: the address, or the cache.
	From string
	// Cached says that no request was needed.
	Cached bool
	// Verified says by what it was verified: "digest", "provenance", "signature"; empty for nothing.
	Verified []string
}
