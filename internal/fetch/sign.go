package fetch

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
)

// publicKey says whether a signature is right.
type publicKey func(data, signature []byte) bool

// ErrSignature says that no key made the signature of these bytes.
var ErrSignature = errors.New("the signature is not by this key, or not of this content")

const maxSignatureBytes = 4096

// verify checks a detached signature over the bytes of a file; any of several keys will do: ECDSA
// with P-256 over the SHA-256 of the file (ASN.1 DER), or ed25519 over the file itself. The
// signature is in base64, as `cosign sign-blob --key` writes it, or as it is, as openssl does. It is
// ErrSignature where it is not right.
func verify(data, signature []byte, keys []publicKey) error {
	if len(signature) > maxSignatureBytes {
		return fmt.Errorf("the signature has %d bytes; expected a detached one of at most %d", len(signature), maxSignatureBytes)
	}
	forms := [][]byte{signature}
	if decoded, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(signature))); err == nil {
		forms = append(forms, decoded)
	}
	for _, key := range keys {
		for _, form := range forms {
			if key(data, form) {
				return nil
			}
		}
	}
	return ErrSignature
}

func publicKeys(text []byte) ([]publicKey, error) {
	var keys []publicKey
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "PUBLIC KEY" {
			return nil, fmt.Errorf("it is a %q; expected a PUBLIC KEY, in PEM", block.Type)
		}
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read the public key: %w", err)
		}
		key, err := publicKeyOf(parsed)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no PEM block; expected -----BEGIN PUBLIC KEY-----")
	}
	return keys, nil
}

func publicKeyOf(parsed any) (publicKey, error) {
	switch key := parsed.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return nil, fmt.Errorf("an ECDSA key on the curve %s; expected P-256", key.Params().Name)
		}
		return func(data, signature []byte) bool {
			sum := sha256.Sum256(data)
			return ecdsa.VerifyASN1(key, sum[:], signature)
		}, nil
	case ed25519.PublicKey:
		return func(data, signature []byte) bool {
			return len(signature) == ed25519.SignatureSize && ed25519.Verify(key, data, signature)
		}, nil
	}
	return nil, fmt.Errorf("a key of the kind %T; expected ECDSA with P-256, or ed25519", parsed)
}
