package helm

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// MaxRecordBytes limits the decompressed size of a record: more than any real release, less than a
// decompression bomb.
const MaxRecordBytes = 64 << 20

// boundedSecrets are the Secrets for Helm's own driver. The driver decompresses without a limit,
// and 1 MiB in a Secret can become 1 GiB, so releases above maxRecordBytes are hidden from it.
type boundedSecrets struct {
	clientcorev1.SecretInterface
}

// Get refuses a release that decompresses to too much.
func (s boundedSecrets) Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.Secret, error) {
	secret, err := s.SecretInterface.Get(ctx, name, o)
	if err == nil && isOversized(secret) {
		return nil, fmt.Errorf("read Secret %s: the release in it unpacks to more than %d MiB", name, MaxRecordBytes>>20)
	}
	return secret, err
}

// List empties releases that decompress to too much: the driver skips what it cannot decode.
func (s boundedSecrets) List(ctx context.Context, o metav1.ListOptions) (*corev1.SecretList, error) {
	list, err := s.SecretInterface.List(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if isOversized(&list.Items[i]) {
			delete(list.Items[i].Data, "release")
		}
	}
	return list, nil
}

// isOversized reports whether the release of a Secret decompresses to more than maxRecordBytes. An
// uncompressed release is no larger than the Secret.
func isOversized(secret *corev1.Secret) bool {
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(string(secret.Data["release"]))))
	if err != nil {
		return false
	}
	n, _ := io.Copy(io.Discard, io.LimitReader(packed, MaxRecordBytes+1))
	return n > MaxRecordBytes
}
