package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// localChart reads a chart by path: an archive, or a directory, of which an archive is made. The
// digest of a directory is that of the tar that Pack writes, before it is compressed.
func (f *Fetcher) localChart(source catalog.ChartSource) (Artifact, error) {
	name, info, err := f.local(source.Path)
	if err != nil {
		return Artifact{}, err
	}
	artifact := Artifact{From: source.Path}
	if info.IsDir() {
		err = f.packFolder(&artifact, name)
	} else if artifact.Data, err = readLocal(f.options.Local, name, f.options.Limits.Bytes); err == nil {
		artifact.Digest = Digest(artifact.Data)
	}
	if err != nil {
		return Artifact{}, err
	}
	if source.Digest != "" {
		if artifact.Digest != source.Digest {
			return Artifact{}, fmt.Errorf("wrong digest: the catalog says %s, %s has %s", source.Digest, source.Path, artifact.Digest)
		}
		artifact.Verified = append(artifact.Verified, ByDigest)
	}
	if info.IsDir() {
		return artifact, nil
	}
	err = f.localProvenance(&artifact, source, name)
	return artifact, err
}

func (f *Fetcher) packFolder(artifact *Artifact, name string) error {
	sub, err := fs.Sub(f.options.Local, name)
	if err != nil {
		return err
	}
	files, err := f.readDirectory(sub)
	if err != nil {
		return err
	}
	packedFiles := make(map[string][]byte, len(files))
	for file, data := range files {
		packedFiles[path.Join("chart", file)] = data
	}
	packed, err := Pack(packedFiles)
	if err != nil {
		return err
	}
	artifact.Digest = Digest(packed)
	artifact.Data, err = compress(packed)
	return err
}

// readDirectory reads every file of a directory, under the bounds of archives.
func (f *Fetcher) readDirectory(dir fs.FS) (map[string][]byte, error) {
	limits, total := f.options.Limits, int64(0)
	files := map[string][]byte{}
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is a %s: only files and directories are accepted", plain(name), kindOf(entry.Type()))
		}
		if len(files) >= limits.Files {
			return fmt.Errorf("it has more than %d files, the limit", limits.Files)
		}
		data, err := readLocal(dir, name, limits.Unpacked-total)
		if err != nil {
			return err
		}
		total += int64(len(data))
		files[name] = data
		return nil
	})
	return files, err
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// local finds a path in Local. No part of it may be a link, and it stays inside.
func (f *Fetcher) local(text string) (string, fs.FileInfo, error) {
	if f.options.Local == nil {
		return "", nil, fmt.Errorf("%s is a path, and this catalog has no directory for it", plain(text))
	}
	name := path.Clean(text)
	if strings.Contains(text, `\`) || !fs.ValidPath(name) {
		return "", nil, fmt.Errorf("the path %s leads out of the directory of the catalog: write one relative to it, without \"..\"", plain(text))
	}
	var info fs.FileInfo
	for end := 0; end < len(name); {
		next := strings.IndexByte(name[end+1:], '/')
		if end = end + 1 + next; next < 0 {
			end = len(name)
		}
		var err error
		if info, err = fs.Lstat(f.options.Local, name[:end]); err != nil {
			return "", nil, err
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return "", nil, fmt.Errorf("%s is a %s, which is not followed", name[:end], kindOf(info.Mode()))
		}
	}
	return name, info, nil
}

func readLocal(dir fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Lstat(dir, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", plain(name))
	}
	file, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := bounded(file, most)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", plain(name), err)
	}
	return data, nil
}

// Manifests gets files of manifests, in their order: all of them, or an error.
func (f *Fetcher) Manifests(ctx context.Context, sources []catalog.ManifestSource) ([]Artifact, error) {
	out := make([]Artifact, 0, len(sources))
	for _, source := range sources {
		artifact, err := f.manifest(ctx, source)
		if err != nil {
			return nil, err
		}
		out = append(out, artifact)
	}
	return out, nil
}

func (f *Fetcher) manifest(ctx context.Context, source catalog.ManifestSource) (Artifact, error) {
	switch {
	case source.URL != "" && source.Path == "":
		return f.File(ctx, source.URL, source.SHA256)
	case source.Path == "" || source.URL != "":
		return Artifact{}, errors.New("a source of manifests has exactly one of url and path")
	}
	digest, err := parseDigest(source.SHA256)
	if err != nil {
		return Artifact{}, fmt.Errorf("manifests %s: %w", source.Path, err)
	}
	name, _, err := f.local(source.Path)
	if err != nil {
		return Artifact{}, fmt.Errorf("read manifests: %w", err)
	}
	data, err := readLocal(f.options.Local, name, f.options.Limits.Bytes)
	if err != nil {
		return Artifact{}, fmt.Errorf("read manifests: %w", err)
	}
	artifact := Artifact{Data: data, Digest: Digest(data), From: source.Path}
	if digest != "" {
		if err := check(data, digest, "the catalog"); err != nil {
			return Artifact{}, fmt.Errorf("read manifests %s: %w", source.Path, err)
		}
		artifact.Verified = []string{ByDigest}
	}
	return artifact, nil
}

// File gets a file from an http(s) address; the digest is sha256:HEX, or HEX.
func (f *Fetcher) File(ctx context.Context, from, digest string) (Artifact, error) {
	ctx, held := holding(ctx)
	artifact, err := f.file(ctx, from, digest)
	if err != nil {
		return Artifact{}, fmt.Errorf("fetch %s: %w", Shown(from), err)
	}
	artifact.Notes = append(artifact.Notes, held.release()...)
	return artifact, nil
}

func (f *Fetcher) file(ctx context.Context, from, digest string) (Artifact, error) {
	digest, err := parseDigest(digest)
	if err != nil {
		return Artifact{}, err
	}
	data, note := f.recall(digest)
	if data != nil {
		return Artifact{Data: data, Digest: digest, From: "cache", Cached: true, Verified: []string{ByDigest}}, nil
	}
	artifact := Artifact{Notes: appendNote(nil, note)}
	if digest == "" {
		if note, err = f.unverified("the file"); err != nil {
			return Artifact{}, err
		}
		artifact.Notes = appendNote(artifact.Notes, note)
	}
	u, err := address(from)
	if err != nil {
		return Artifact{}, err
	}
	if data, err = f.get(withPin(ctx, f.options.Unverified || digest != ""), u, f.options.Limits.Bytes); err != nil {
		return Artifact{}, err
	}
	artifact.Data, artifact.Digest, artifact.From = data, Digest(data), shown(u)
	if digest != "" {
		if err := check(data, digest, "the catalog"); err != nil {
			return Artifact{}, err
		}
		artifact.Verified = []string{ByDigest}
	}
	f.keep(ctx, artifact.Digest, "", data)
	return artifact, nil
}
