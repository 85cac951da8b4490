package standin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
)

// fetch reads the whole archive, and wants its sum also of one that is given as a file.
func fetch(ctx context.Context, p krew.Platform, archive string) ([]byte, error) {
	var data []byte
	var err error
	if archive != "" {
		data, err = os.ReadFile(archive)
	} else {
		data, err = download(ctx, p.URI)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to obtain plugin archive: %w", err)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != p.SHA256 {
		return nil, fmt.Errorf("checksum does not match, want: %s, got %s", p.SHA256, got)
	}
	return data, nil
}

func download(ctx context.Context, uri string) (data []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, uri, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", uri, response.Status)
	}
	return io.ReadAll(response.Body)
}

// unpack makes the folder of a version hold what is to be installed of an archive.
func unpack(data []byte, p krew.Platform, version string) (err error) {
	staging, err := os.MkdirTemp(filepath.Dir(filepath.Dir(version)), ".unpack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	unpacked, installed := filepath.Join(staging, "unpacked"), filepath.Join(staging, "installed")
	var entries []krew.Entry
	err = krew.Unpack(data, func(e krew.Entry, content io.Reader) error {
		entries = append(entries, e)
		return extract(filepath.Join(unpacked, filepath.FromSlash(e.Name)), e, content)
	})
	if err != nil {
		return fmt.Errorf("failed to unpack the plugin archive: %w", err)
	}
	moves, err := p.Installed(entries)
	if err != nil {
		return fmt.Errorf("failed while moving files to the installation directory: %w", err)
	}
	if err := os.Mkdir(installed, 0o755); err != nil {
		return err
	}
	for _, m := range moves {
		to := filepath.Join(installed, filepath.FromSlash(path.Clean(m.To)))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(unpacked, filepath.FromSlash(m.From)), to); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(version), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(version); err != nil {
		return err
	}
	return os.Rename(installed, version)
}

func extract(to string, e krew.Entry, content io.Reader) (err error) {
	if e.Mode.IsDir() {
		return os.MkdirAll(to, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, e.Mode.Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, content)
	return err
}
