package logs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// maxLineBytes limits the stored part of a line, in bytes: a program may write for days without a
// line end.
const maxLineBytes = 1 << 20

// keptBuffer limits the buffer that a reader reuses: one long line in each of a thousand logs
// should not stay in memory.
const keptBuffer = 64 << 10

// lineReader reads a log line by line.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
	end error // why there are no more lines
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 16<<10)} }

// next returns the next line, or an error; io.EOF at the end of the log. whole is set if the line
// had an end: the rest after the last one may be a part of a line.
func (l *lineReader) next() (line Line, whole bool, err error) {
	if l.end != nil {
		return Line{}, false, l.end
	}
	l.buf = l.buf[:0]
	for {
		var part []byte
		part, err = l.r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		room := min(len(part), maxLineBytes-len(l.buf))
		l.buf = append(l.buf, part[:room]...)
		line.Cut += len(part) - room
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	l.end = err
	if len(l.buf) == 0 && err != nil {
		return Line{}, false, err
	}
	line.Time, line.Stamp, line.Text = splitStamp(string(bytes.TrimSuffix(l.buf, []byte("\r"))))
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	return line, err == nil, nil
}

// splitStamp splits the time off a line. A line without one is the server's own.
func splitStamp(text string) (time.Time, string, string) {
	const shortest, longest = len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.000000000+00:00")
	end := 0
	for end < len(text) && end <= longest && text[end] != ' ' {
		end++
	}
	if end < shortest || end > longest {
		return time.Time{}, "", text
	}
	at, err := time.Parse(time.RFC3339Nano, text[:end])
	if err != nil {
		return time.Time{}, "", text
	}
	return at, text[:end], text[min(end+1, len(text)):]
}
