package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// inMemory limits the part of a log that is held in memory, in bytes, if more than Max logs are
// merged. The rest goes to a file.
const inMemory = 64 << 10

// spool stores a log as far as it could be read. A reader gets the error at its end.
type spool struct {
	io.Reader
	file *os.File // nil for a short log
	end  error
}

func newSpool(log io.Reader) (*spool, error) {
	head := &bytes.Buffer{}
	if _, err := io.CopyN(head, log, inMemory); err != nil { // io.EOF for a short one
		return &spool{Reader: head, end: err}, nil
	}
	// Only the owner may read the file: logs often contain secrets.
	file, err := os.CreateTemp("", "sysop-logs-")
	if err != nil {
		return nil, fmt.Errorf("buffer a long log: %w", err)
	}
	// If the system allows it, the file has no name, and is deleted with the process.
	_ = os.Remove(file.Name())
	s := &spool{Reader: io.MultiReader(head, file), file: file, end: io.EOF}
	if _, err := io.Copy(file, log); err != nil {
		s.end = err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("buffer a long log: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *spool) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = s.end
	}
	return n, err
}

// Close removes the file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
