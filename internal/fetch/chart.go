package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// Chart gets a chart: Data is its archive. A chart of a repository is checked against the
// digest of the source and the one of the index; one of a registry by the digest of its
// manifest; both, and those by path, against their provenance where a keyring is given.
func (f *Fetcher) Chart(ctx context.Context, source catalog.ChartSource) (Artifact, error) {
	digest, err := parseDigest(source.Digest)
	if err != nil {
		return Artifact{}, fmt.Errorf("chart %s: %w", title(source), err)
	}
	source.Digest = digest
	ctx, held := holding(ctx)
	var artifact Artifact
	switch {
	case source.Repository != "" && source.OCI == "" && source.Path == "":
		artifact, err = f.repositoryChart(ctx, source)
	case source.OCI != "" && source.Repository == "" && source.Path == "":
		artifact, err = f.registryChart(ctx, source)
	case source.Path != "" && source.Repository == "" && source.OCI == "":
		artifact, err = f.localChart(source)
	default:
		err = errors.New("a source of a chart has exactly one of repository, oci and path")
	}
	if err != nil {
		return Artifact{}, fmt.Errorf("fetch chart %s: %w", title(source), err)
	}
	artifact.Notes = append(artifact.Notes, held.release()...)
	return artifact, nil
}

// title names a chart for people.
func title(source catalog.ChartSource) string {
	name := source.Name
	for _, from := range []string{source.OCI, source.Path} {
		if name == "" && from != "" {
			name = path.Base(from)
		}
	}
	address := source.Path
	if source.Repository+source.OCI != "" {
		address = Shown(source.Repository + source.OCI)
	}
	return strings.TrimSpace(name+" "+source.Version) + " from " + address
}

func (f *Fetcher) repositoryChart(ctx context.Context, source catalog.ChartSource) (Artifact, error) {
	if source.Name == "" || source.Version == "" {
		return Artifact{}, errors.New("a chart of a repository needs its name and its version")
	}
	data, damage := f.recall(source.Digest)
	if data != nil && f.keyring == nil {
		return Artifact{Data: data, Digest: source.Digest, From: "cache", Cached: true, Verified: []string{ByDigest}}, nil
	}
	if data != nil {
		if done, ok := f.recallSigned(data, source); ok {
			return done, nil
		}
	}
	artifact := Artifact{Notes: appendNote(nil, damage)}
	if source.Digest == "" && f.keyring == nil {
		note, err := f.unverified("it")
		if err != nil {
			return Artifact{}, err
		}
		artifact.Notes = appendNote(artifact.Notes, note)
	}
	repository, err := address(source.Repository)
	if err != nil {
		return Artifact{}, err
	}
	listed, err := f.index(ctx, repository)
	if err != nil {
		return Artifact{}, err
	}
	found, err := listed.find(source.Name, source.Version, source.Digest)
	if err != nil {
		return Artifact{}, err
	}
	at, err := archiveURL(repository, found.url)
	if err != nil {
		return Artifact{}, err
	}
	if err := f.archive(ctx, &artifact, at, source, found, data); err != nil {
		return Artifact{}, err
	}
	err = f.httpProvenance(ctx, &artifact, at, source)
	return artifact, err
}

// archive fetches the archive of a chart, unless it is at hand, and checks and keeps it.
func (f *Fetcher) archive(ctx context.Context, artifact *Artifact, at *url.URL, source catalog.ChartSource, found entry, data []byte) error {
	artifact.From, artifact.Data = shown(at), data
	if data == nil {
		var err error
		if data, err = f.get(withPin(ctx, f.options.Unverified || source.Digest+found.digest != ""), at, f.options.Limits.Bytes); err != nil {
			return fmt.Errorf("get %s: %w", shown(at), err)
		}
		artifact.Data = data
	}
	artifact.Digest = Digest(data)
	if source.Digest != "" {
		if err := check(data, source.Digest, "the catalog"); err != nil {
			return err
		}
		artifact.Verified = append(artifact.Verified, ByDigest)
	}
	if found.digest != "" {
		if err := check(data, found.digest, "the index of the repository"); err != nil {
			return err
		}
	}
	f.keep(ctx, artifact.Digest, "", data)
	return nil
}

// archiveURL is where an archive is, by what an index says.
func archiveURL(repository *url.URL, text string) (*url.URL, error) {
	ref, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the index has %s, which is not an address", excerpt([]byte(text)))
	}
	dir := *repository
	dir.Path = strings.TrimSuffix(dir.Path, "/") + "/"
	dir.RawPath = ""
	at, err := address(dir.ResolveReference(ref).String())
	if err != nil {
		return nil, fmt.Errorf("the index has an address that is refused: %w", err)
	}
	if ref.User != nil {
		return nil, fmt.Errorf("the index has %s, which contains a password: refused", shown(at))
	}
	if repository.Scheme == "https" && at.Scheme == "http" {
		return nil, fmt.Errorf("the index of %s names %s: from https to http is refused", shown(repository), shown(at))
	}
	return at, nil
}
