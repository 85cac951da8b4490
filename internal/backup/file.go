package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// secretsFile holds the Secrets in a file of a backup, encrypted with age.
const secretsFile = "secrets.age"

// Recipients are who may read the Secrets of a file.
type Recipients []age.Recipient

// ParseRecipients reads age public keys, and a file of them; empty for none.
func ParseRecipients(keys []string, file string) (Recipients, error) {
	var out Recipients
	for _, key := range keys {
		r, err := age.ParseX25519Recipient(key)
		if err != nil {
			return nil, hint.With(fmt.Errorf("--recipient %s: %w", key, err), "age-keygen -o key.txt makes a key, and prints its public key (age1...)")
		}
		out = append(out, r)
	}
	if file == "" {
		return out, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--recipients-file: %w", err)
	}
	more, err := age.ParseRecipients(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("--recipients-file %s: %w", file, err)
	}
	return append(out, more...), nil
}

// WriteFile writes a backup that is complete to a file: the record with the handles, the manifests,
// and the Secrets for the recipients.
func (p *Plan) WriteFile(name string, secrets []*unstructured.Unstructured, to Recipients) error {
	record, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	files := map[string][]byte{RecordKey: record, SpecsKey: []byte(p.Specs)}
	if len(to) > 0 && len(secrets) > 0 {
		if files[secretsFile], err = sealed(secrets, to); err != nil {
			return err
		}
	}
	text, err := bundle.Write(files)
	if err != nil {
		return err
	}
	return writeWhole(name, text)
}

// writeWhole writes a file that only its owner may read, or leaves what was there.
func writeWhole(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if wrong := f.Close(); err == nil {
		err = wrong
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the backup: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// sealed encrypts Secrets, as they would be applied.
func sealed(secrets []*unstructured.Unstructured, to Recipients) ([]byte, error) {
	var all []map[string]any
	for _, o := range secrets {
		all = append(all, AsApplied(o.Object))
	}
	plain, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return nil, fmt.Errorf("encrypt the Secrets: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil { // which writes the end
		return nil, fmt.Errorf("encrypt the Secrets: %w", err)
	}
	return out.Bytes(), nil
}

// AsApplied is a Secret or a ConfigMap without what a cluster puts into it.
func AsApplied(o map[string]any) map[string]any {
	from := &unstructured.Unstructured{Object: o}
	out := map[string]any{"apiVersion": "v1", "kind": from.GetKind(), "metadata": map[string]any{"name": from.GetName(), "namespace": from.GetNamespace()}}
	for _, key := range []string{"type", "data", "binaryData", "immutable"} {
		if v, ok := o[key]; ok {
			out[key] = v
		}
	}
	return out
}

// ReadFile reads a backup from a file. All of it is checked before anything is returned. Secrets are
// decrypted with the private keys of the identity file; without one they are left out.
func ReadFile(name, identity string) (*Plan, []*unstructured.Unstructured, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read the backup: %w", err)
	}
	files, err := bundle.Open(text, fetch.DefaultLimits)
	if err != nil {
		return nil, nil, fmt.Errorf("read the backup %s: %w", name, err)
	}
	record, err := fs.ReadFile(files, RecordKey)
	if err != nil {
		return nil, nil, hint.With(fmt.Errorf("%s is no backup: it has no %s", name, RecordKey), "kubectl sysop backup run --file FILE writes one")
	}
	specs, err := fs.ReadFile(files, SpecsKey)
	if err != nil {
		return nil, nil, fmt.Errorf("read the backup %s: %w", name, err)
	}
	p, err := ParseRecord(name, record, specs)
	if err != nil {
		return nil, nil, err
	}
	sealed, err := fs.ReadFile(files, secretsFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && identity == "" {
		return p, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the backup %s: %w", name, err)
	}
	secrets, err := opened(sealed, identity)
	if err != nil {
		return nil, nil, fmt.Errorf("read the Secrets of %s: %w", name, err)
	}
	return p, secrets, nil
}

// opened decrypts Secrets.
func opened(sealed []byte, identity string) ([]*unstructured.Unstructured, error) {
	key, err := os.ReadFile(identity)
	if err != nil {
		return nil, fmt.Errorf("--identity: %w", err)
	}
	identities, err := age.ParseIdentities(bytes.NewReader(key))
	if err != nil {
		return nil, hint.With(fmt.Errorf("--identity %s is not a file of age private keys", identity), "age-keygen -o key.txt makes one; its public key is a --recipient of the backup")
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), identities...)
	if err != nil {
		return nil, hint.With(fmt.Errorf("--identity %s: %w", identity, err), "take the private key of a --recipient of the backup")
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var all []map[string]any
	if err := json.Unmarshal(plain, &all); err != nil {
		return nil, errors.New("they are damaged")
	}
	var out []*unstructured.Unstructured
	for _, o := range all {
		out = append(out, &unstructured.Unstructured{Object: o})
	}
	return out, nil
}
