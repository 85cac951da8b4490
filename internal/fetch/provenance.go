package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

const maxProvenanceBytes = 1 << 20

// httpProvenance checks the .prov next to an archive. Without a keyring it only checks whether
// there is one, to say that it was not checked.
func (f *Fetcher) httpProvenance(ctx context.Context, artifact *Artifact, archive *url.URL, source catalog.ChartSource) error {
	at := *archive
	at.Path += ".prov"
	if at.RawPath != "" {
		at.RawPath += ".prov"
	}
	if f.keyring == nil {
		if f.exists(ctx, &at) {
			artifact.Notes = append(artifact.Notes, notChecked(shown(&at)))
		}
		return nil
	}
	prov, err := f.get(ctx, &at, maxProvenanceBytes)
	if isMissing(err) {
		return f.noProvenance(artifact, source)
	}
	if err != nil {
		return fmt.Errorf("get %s: %w", shown(&at), err)
	}
	if err := f.checkProvenance(artifact, prov, path.Base(archive.Path)); err != nil {
		return err
	}
	f.keep(ctx, artifact.Digest, ".prov", prov)
	return nil
}

func notChecked(address string) string {
	return "the provenance " + address + " was not checked: no keyring was given"
}

// noProvenance decides about an unsigned chart, where there is a keyring.
func (f *Fetcher) noProvenance(artifact *Artifact, source catalog.ChartSource) error {
	artifact.Notes = append(artifact.Notes, "the chart has no provenance to check with the keyring")
	if source.Digest != "" || source.Path != "" {
		return nil
	}
	note, err := f.unverified("it has no provenance either, and")
	artifact.Notes = appendNote(artifact.Notes, note)
	return err
}

// checkProvenance checks an archive with what its project signed. A signature that is not
// right is an error, digest or not.
func (f *Fetcher) checkProvenance(artifact *Artifact, prov []byte, name string) error {
	verification, err := f.keyring.Verify(artifact.Data, prov, name)
	if err != nil {
		return fmt.Errorf("check the provenance of %s with the keyring: %w", name, safeError{err})
	}
	artifact.Verified = append(artifact.Verified, ByProvenance)
	if verification.SignedBy != nil {
		if id := verification.SignedBy.PrimaryIdentity(); id != nil {
			artifact.Notes = append(artifact.Notes, "the chart is signed by "+plain(id.Name))
		}
	}
	return nil
}

// recallSigned answers from the cache alone where the provenance is cached too.
func (f *Fetcher) recallSigned(data []byte, source catalog.ChartSource) (Artifact, bool) {
	prov, err := readRegular(f.cachePath(source.Digest, ".prov"), maxProvenanceBytes)
	if err != nil {
		return Artifact{}, false
	}
	artifact := Artifact{Data: data, Digest: source.Digest, From: "cache", Cached: true, Verified: []string{ByDigest}}
	for _, version := range []string{source.Version, "v" + source.Version, strings.TrimPrefix(source.Version, "v")} {
		if f.checkProvenance(&artifact, prov, source.Name+"-"+version+".tgz") == nil {
			return artifact, true
		}
	}
	_ = os.Remove(f.cachePath(source.Digest, ".prov")) // it is fetched again, and reported there
	return Artifact{}, false
}

// localProvenance checks the .prov next to an archive of Local.
func (f *Fetcher) localProvenance(artifact *Artifact, source catalog.ChartSource, name string) error {
	provenance := name + ".prov"
	if _, err := fs.Lstat(f.options.Local, provenance); errors.Is(err, fs.ErrNotExist) {
		if f.keyring == nil {
			return nil
		}
		return f.noProvenance(artifact, source)
	}
	if f.keyring == nil {
		artifact.Notes = append(artifact.Notes, notChecked(provenance))
		return nil
	}
	prov, err := readLocal(f.options.Local, provenance, maxProvenanceBytes)
	if err != nil {
		return err
	}
	return f.checkProvenance(artifact, prov, path.Base(name))
}
