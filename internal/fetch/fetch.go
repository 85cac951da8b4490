// Package fetch gets what a catalog names (charts, manifests, catalogs themselves) over
// http(s), from an OCI registry, from a file or from a bundle; bounded, verified by digest and
// signature, and kept by digest. It fetches nothing else.
package fetch

import (
	"io/fs"
	"net/http"
	"sync"
	"time"

	"helm.sh/helm/v4/pkg/provenance"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// Limits bound what is taken from others.
type Limits struct {
	// Bytes is the most that one file has as it travels, Unpacked what an archive has
	// unpacked, Files how many.
	Bytes, Unpacked int64
	Files           int
	// Time is the most that one request takes, its answer included.
	Time time.Duration
}

// DefaultLimits are far above any real chart and catalog.
var DefaultLimits = Limits{Bytes: 64 << 20, Unpacked: 256 << 20, Files: 10000, Time: 2 * time.Minute}

// withDefaults is the limits with what is left out taken from the other.
func (l Limits) withDefaults(other Limits) Limits {
	if l.Bytes <= 0 {
		l.Bytes = other.Bytes
	}
	if l.Unpacked <= 0 {
		l.Unpacked = other.Unpacked
	}
	if l.Files <= 0 {
		l.Files = other.Files
	}
	if l.Time <= 0 {
		l.Time = other.Time
	}
	return l
}

// What an Artifact was verified by.
const (
	ByDigest     = "digest"
	ByProvenance = "provenance"
	BySignature  = "signature"
)

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
	// Notes are for people: what was not verified, and why; what of the cache was damaged.
	Notes []string
}

// Redirects says where a server may send us on to. From https to http is never followed, and
// credentials never go to another host.
type Redirects string

const (
	// Pinned follows to another host where a digest or a key says what has to come. It is
	// the default: releases are often kept on a host of their own.
	Pinned Redirects = ""
	// SameHost never follows to another host.
	SameHost Redirects = "same-host"
)

// Options are what a Fetcher is made with. The zero value is of use: it verifies, and keeps nothing.
type Options struct {
	// Cache is a directory in which files are kept by their digest; empty for none.
	Cache string
	// Offline says that no request is ever made.
	Offline bool
	// Unverified accepts sources without a digest. The Notes say so.
	Unverified bool
	// Limits of what is taken; DefaultLimits where they are zero.
	Limits Limits
	// Transport sends the requests. Nil is for one of our own, which heeds HTTPS_PROXY,
	// HTTP_PROXY and NO_PROXY.
	Transport http.RoundTripper
	// CA are certificates (PEM) to trust in addition to those of the system. Not with Transport.
	CA []byte
	// PlainHTTP speaks http, not https, with registries on loopback addresses.
	PlainHTTP bool
	// Credentials are for registries. Nil is for those that `docker login` and `helm
	// registry login` keep, which are read only.
	Credentials auth.CredentialFunc
	// Keyring is a file of OpenPGP keys (armored, binary or keybox) that charts are signed with.
	Keyring string
	// Key is a public key (PEM, ECDSA P-256 or ed25519) that catalogs are signed with. With
	// a key, a catalog without a valid signature is refused.
	Key []byte
	// Name is the one that a signed catalog has to have in its IdentityFile; empty for the
	// one that was last taken from the address.
	Name      string
	UserAgent string
	Redirects Redirects
	// Local is what sources by path are found in: the directory of the catalog, or a bundle.
	Local fs.FS
}

// Fetcher gets what it is asked for. It may be used by several at once.
type Fetcher struct {
	options Options
	client  *http.Client
	// registry is for OCI: another transport, which refuses plain http.
	registry *auth.Client
	keyring  *provenance.Signatory
	keys     []publicKey

	indexes indexes
}

type indexes struct {
	sync.Mutex
	byURL map[string]index
}
