package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// IdentityFile is the file at the root of a catalog that identifies it. It is signed with the
// rest: a catalog cannot be replaced by another one of the same publisher, or by an older one.
const IdentityFile = "catalog.json"

// Identity is what a catalog says of itself. Its publisher keeps the name, and raises the
// serial with every change.
type Identity struct {
	Name   string `json:"name"`
	Serial int64  `json:"serial"`
}

const maxIdentityBytes = 4 << 10

var identityName = lazyregexp.New(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// ReadIdentity returns the identity of a catalog; nil where it has none.
func ReadIdentity(files fs.FS) (*Identity, error) {
	file, err := files.Open(IdentityFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // A catalog need not have one.
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it is only read
	text, err := bounded(file, maxIdentityBytes)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", IdentityFile, err)
	}
	var id Identity
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&id); err != nil {
		return nil, fmt.Errorf(`read %s: expected {"name": NAME, "serial": NUMBER}: %w`, IdentityFile, safeError{err})
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: content after its object", IdentityFile)
	}
	if !identityName.MatchString(id.Name) {
		return nil, fmt.Errorf("read %s: the name %s: expected small letters, digits, dots and hyphens", IdentityFile, excerpt([]byte(id.Name)))
	}
	if id.Serial < 1 {
		return nil, fmt.Errorf("read %s: the serial %d: expected 1 or more", IdentityFile, id.Serial)
	}
	return &id, nil
}

// seen is the last catalog that was taken from an address, and its digest.
type seen struct {
	Identity
	Digest string `json:"digest"`
}

// identified compares a signed catalog with the name that is expected, and with the one
// that was last taken from the address. One whose digest is in the address needs none of that:
// nothing else can come.
func (f *Fetcher) identified(h *held, from string, files fs.FS, artifact *Artifact) error {
	if !slices.Contains(artifact.Verified, BySignature) || slices.Contains(artifact.Verified, ByDigest) {
		return nil
	}
	id, err := ReadIdentity(files)
	if err != nil {
		return err
	}
	path := f.seenPath(from)
	last, err := readSeen(path)
	if err != nil {
		return err
	}
	if id == nil {
		return f.anonymous(artifact, last)
	}
	if want := f.options.Name; want != "" && id.Name != want {
		return fmt.Errorf("it is the catalog %s, and the settings expect %s: it is signed, but a different catalog", id.Name, want)
	}
	if last != nil {
		if err := last.precedes(id, artifact.Digest, path); err != nil {
			return err
		}
	}
	if path == "" {
		return nil
	}
	text, err := json.Marshal(seen{*id, artifact.Digest})
	if err != nil {
		return err
	}
	h.files = append(h.files, heldFile{path, text})
	return nil
}

// anonymous is for a signed catalog without identity: it is taken where none is expected.
func (f *Fetcher) anonymous(artifact *Artifact, last *seen) error {
	switch {
	case f.options.Name != "":
		return fmt.Errorf("it has no %s, and the settings expect the catalog %s", IdentityFile, f.options.Name)
	case last != nil:
		return fmt.Errorf("it has no %s; the last one fetched from there was the catalog %s, serial %d, and an older or different one may not replace it", IdentityFile, last.Name, last.Serial)
	}
	artifact.Notes = append(artifact.Notes, "the catalog is signed, but has no "+IdentityFile+" with its name and serial: an older or different catalog that is signed with the same key would be accepted as well")
	return nil
}

// precedes refuses what is not the same catalog, or an older one.
func (s *seen) precedes(id *Identity, digest, path string) error {
	const way = "; give its digest at the end of the address to accept it, or remove %s to forget the last one"
	switch {
	case id.Name != s.Name:
		return fmt.Errorf("it is the catalog %s, and the last one fetched from there was %s: it is signed, but a different catalog"+way, id.Name, s.Name, path)
	case id.Serial < s.Serial:
		return fmt.Errorf("it is serial %d of the catalog %s, and serial %d was fetched before: it is older"+way, id.Serial, id.Name, s.Serial, path)
	case id.Serial == s.Serial && digest != s.Digest:
		return fmt.Errorf("it is serial %d of the catalog %s, which was fetched before with different content (%s, now %s): its publisher has to raise the serial with every change"+way, id.Serial, id.Name, s.Digest, digest, path)
	}
	return nil
}

// seenPath is where the last catalog of an address is remembered; empty without a cache.
// What may differ from time to time is no part of the address: user and token.
func (f *Fetcher) seenPath(from string) string {
	if f.options.Cache == "" {
		return ""
	}
	if u, err := url.Parse(from); err == nil && strings.Contains(from, "://") {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		u.Host = strings.ToLower(u.Host)
		from = u.String()
	} else if full, err := filepath.Abs(from); err == nil {
		from = full
	}
	sum := sha256.Sum256([]byte(from + f.options.Name)) // catalogs that differ by a query alone differ by name
	return filepath.Join(f.options.Cache, "catalogs", hex.EncodeToString(sum[:])+".json")
}

func readSeen(path string) (*seen, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // Without a cache nothing is remembered.
	}
	text, err := readRegular(path, maxIdentityBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // Nothing was taken from there yet.
	}
	var last seen
	if err == nil {
		err = json.Unmarshal(text, &last)
	}
	if err != nil {
		// A damaged file must not disable the check unnoticed.
		return nil, fmt.Errorf("read which catalog was last fetched from there: %w; remove %s to forget it", err, path)
	}
	return &last, nil
}
