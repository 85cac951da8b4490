package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const digestPrefix = "sha256:"

// Digest is the digest of a file: sha256:HEX.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// parseDigest takes sha256:HEX, or HEX alone, and returns sha256:hex; empty stays empty.
func parseDigest(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	digits := strings.ToLower(strings.TrimPrefix(text, digestPrefix))
	if sum, err := hex.DecodeString(digits); err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("%q is not a digest; write sha256: and 64 hexadecimal digits", text)
	}
	return digestPrefix + digits, nil
}

// check compares a file with the digest that it has to have.
func check(data []byte, want, origin string) error {
	if got := Digest(data); got != want {
		return fmt.Errorf("wrong digest: %s says %s, the content has %s (%d bytes); nothing was stored", origin, want, got, len(data))
	}
	return nil
}

// unverified is the error for a source without a digest; with Options.Unverified it is a note.
func (f *Fetcher) unverified(subject string) (note string, err error) {
	if f.options.Unverified {
		return subject + " has no digest: it is unverified", nil
	}
	return "", fmt.Errorf("%s has no digest, so its content cannot be verified: give its sha256, or allow unverified content", subject)
}
