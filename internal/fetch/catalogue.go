package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// SignatureAnnotation of a manifest in a registry is the signature of the catalog that is
// its first layer, as Verify takes it.
const SignatureAnnotation = "sysop.dev/signature"

// Catalogue gets a catalog: the files of it, and what it is. The address is one of
//
//	https://HOST/NAME.tar[#sha256:HEX]  a tar, gzipped or not; NAME.tar.sig is its signature
//	oci://HOST/PATH[:TAG][@sha256:HEX]  the first layer is such a tar; SignatureAnnotation
//	PATH.tar[#sha256:HEX]               a file; PATH.tar.sig is its signature
//	PATH                                a directory; links that lead out of it are not followed
//
// With Options.Key a catalog needs a valid signature, and must be neither another nor an older
// one than that which was last taken from there (see Identity). From another machine it needs a
// signature or a digest, or that what is unverified is allowed.
func (f *Fetcher) Catalogue(ctx context.Context, from string) (fs.FS, Artifact, error) {
	ctx, held := holding(ctx)
	files, artifact, err := f.catalogue(ctx, from)
	if err == nil {
		err = f.identified(held, from, files, &artifact)
	}
	if err != nil {
		return nil, Artifact{}, fmt.Errorf("fetch catalog %s: %w", Shown(from), err)
	}
	artifact.Notes = append(artifact.Notes, held.release()...)
	return files, artifact, nil
}

func (f *Fetcher) catalogue(ctx context.Context, from string) (fs.FS, Artifact, error) {
	var artifact Artifact
	var err error
	switch field.URLScheme(from) {
	case "oci":
		artifact, err = f.registryCatalogue(ctx, from)
	case "http", "https":
		artifact, err = f.remoteCatalogue(ctx, from)
	case "":
		if info, problem := os.Stat(from); problem == nil && info.IsDir() {
			return f.directory(from)
		}
		artifact, err = f.fileCatalogue(from)
	default:
		err = errors.New("unknown scheme; expected https, http, oci, or a path")
	}
	if err != nil {
		return nil, Artifact{}, err
	}
	files, err := Unpack(artifact.Data, f.options.Limits)
	if err != nil {
		return nil, Artifact{}, err
	}
	return files, artifact, nil
}

// directory is a directory of the disk. Nothing outside of it can be read through it.
func (f *Fetcher) directory(from string) (fs.FS, Artifact, error) {
	if len(f.keys) > 0 {
		return nil, Artifact{}, errors.New("a key is given, and a directory has no signature: pack it as a tar and sign that, or omit the key")
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return nil, Artifact{}, err
	}
	return root.FS(), Artifact{From: from}, nil
}

func (f *Fetcher) fileCatalogue(from string) (Artifact, error) {
	name, digest, err := cutDigest(from)
	if err != nil {
		return Artifact{}, err
	}
	file, err := os.Stat(name)
	if err != nil {
		return Artifact{}, err
	}
	if !file.Mode().IsRegular() {
		return Artifact{}, errors.New("it is neither a file nor a directory")
	}
	data, err := readDisk(name, f.options.Limits.Bytes)
	if err != nil {
		return Artifact{}, err
	}
	artifact := Artifact{Data: data, Digest: Digest(data), From: name}
	if err := artifact.digested(digest); err != nil {
		return Artifact{}, err
	}
	if len(f.keys) == 0 {
		return artifact, nil
	}
	signature, err := readDisk(name+".sig", maxSignatureBytes)
	if err != nil {
		return Artifact{}, fmt.Errorf("a key is given, and its signature cannot be read: %w", err)
	}
	err = f.signed(&artifact, signature, name+".sig")
	return artifact, err
}

func readDisk(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return bounded(file, most)
}

func (f *Fetcher) remoteCatalogue(ctx context.Context, from string) (Artifact, error) {
	from, digest, err := cutDigest(from)
	if err != nil {
		return Artifact{}, err
	}
	u, err := address(from)
	if err != nil {
		return Artifact{}, err
	}
	artifact := Artifact{From: shown(u)}
	if err := f.trusted(&artifact, digest); err != nil {
		return Artifact{}, err
	}
	data, note := f.recall(digest)
	artifact.Notes = appendNote(artifact.Notes, note)
	if artifact.Cached = data != nil; !artifact.Cached {
		if data, err = f.get(withPin(ctx, digest != "" || len(f.keys) > 0), u, f.options.Limits.Bytes); err != nil {
			return Artifact{}, err
		}
	} else {
		artifact.From = "cache"
	}
	artifact.Data, artifact.Digest = data, Digest(data)
	if err := artifact.digested(digest); err != nil {
		return Artifact{}, err
	}
	if len(f.keys) > 0 {
		if err := f.remoteSignature(ctx, &artifact, u); err != nil {
			return Artifact{}, err
		}
	}
	if !artifact.Cached {
		f.keep(ctx, artifact.Digest, "", data)
	}
	return artifact, nil
}

// remoteSignature checks the .sig next to a catalog; that of a digest is cached with it.
func (f *Fetcher) remoteSignature(ctx context.Context, artifact *Artifact, u *url.URL) error {
	if cachedPath := f.cachePath(artifact.Digest, ".sig"); cachedPath != "" && artifact.Cached {
		signature, err := readRegular(cachedPath, maxSignatureBytes)
		if err == nil && f.signed(artifact, signature, cachedPath) == nil {
			return nil
		}
	}
	at := *u
	at.Path += ".sig"
	if at.RawPath != "" {
		at.RawPath += ".sig"
	}
	signature, err := f.get(withPin(ctx, true), &at, maxSignatureBytes)
	if err != nil {
		return fmt.Errorf("a key is given, and the signature %s cannot be fetched: %w", shown(&at), err)
	}
	artifact.Cached = false
	if err := f.signed(artifact, signature, shown(&at)); err != nil {
		return err
	}
	f.keep(ctx, artifact.Digest, ".sig", signature)
	return nil
}

func (f *Fetcher) registryCatalogue(ctx context.Context, from string) (Artifact, error) {
	p, err := f.placeOf(from)
	if err != nil {
		return Artifact{}, err
	}
	artifact := Artifact{From: p.String()}
	if err := f.trusted(&artifact, p.digest); err != nil {
		return Artifact{}, err
	}
	manifest, digest, notes, err := f.manifestOf(ctx, p)
	if err != nil {
		return Artifact{}, err
	}
	data, cached, more, err := f.blob(ctx, p, manifest.Layers[0], f.options.Limits.Bytes)
	if err != nil {
		return Artifact{}, err
	}
	artifact.Data, artifact.Digest, artifact.Cached = data, digest, cached && p.digest != ""
	artifact.Notes = appendNote(append(artifact.Notes, notes...), more...)
	if p.digest != "" {
		artifact.Verified = []string{ByDigest}
	}
	if len(f.keys) == 0 {
		return artifact, nil
	}
	err = f.manifestSignature(&artifact, manifest)
	return artifact, err
}

func (f *Fetcher) manifestSignature(artifact *Artifact, manifest ocispec.Manifest) error {
	signature, ok := manifest.Annotations[SignatureAnnotation]
	if !ok {
		return fmt.Errorf("a key is given, and the manifest has no signature: the annotation %s", SignatureAnnotation)
	}
	return f.signed(artifact, []byte(signature), "the annotation "+SignatureAnnotation)
}

// trusted refuses a catalog of another machine that cannot be verified.
func (f *Fetcher) trusted(artifact *Artifact, digest string) error {
	if digest != "" || len(f.keys) > 0 {
		return nil
	}
	if !f.options.Unverified {
		return errors.New("the expected content is unknown: give the key that it is signed with, or its digest at the end of the address (#sha256:HEX, of oci @sha256:HEX), or allow unverified content")
	}
	artifact.Notes = append(artifact.Notes, "the catalog is unverified: neither a key nor a digest was given")
	return nil
}

func (f *Fetcher) signed(artifact *Artifact, signature []byte, address string) error {
	if err := verify(artifact.Data, signature, f.keys); err != nil {
		return fmt.Errorf("check the signature %s with the key: %w", address, err)
	}
	artifact.Verified = append(artifact.Verified, BySignature)
	return nil
}

// digested checks against the digest of an address, where it has one.
func (a *Artifact) digested(digest string) error {
	if digest == "" {
		return nil
	}
	if err := check(a.Data, digest, "the address"); err != nil {
		return err
	}
	a.Verified = append(a.Verified, ByDigest)
	return nil
}

// cutDigest parts an address and the digest at its end.
func cutDigest(text string) (rest, digest string, err error) {
	at := strings.LastIndex(text, "#"+digestPrefix)
	if at < 0 {
		return text, "", nil
	}
	digest, err = parseDigest(text[at+1:])
	return text[:at], digest, err
}
