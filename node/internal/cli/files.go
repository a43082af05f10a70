package cli

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/task"
)

// readSmall reads a file that must be small. It may be a pipe.
func readSmall(ctx context.Context, path string, most int64) ([]byte, error) {
	return cmdline.UnlessStopped(ctx, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return bounded(f, path, most)
	})
}

func bounded(r io.Reader, name string, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = errs.New(errs.TooLarge, "file_too_large", "%s has more than %d bytes", name, most)
	}
	return b, err
}

// attach reads the files of a message.
func attach(ctx context.Context, paths []string) ([]node.File, error) {
	files := make([]node.File, 0, len(paths))
	for _, path := range paths {
		data, err := readSmall(ctx, path, task.MaxAttachment)
		if err != nil {
			return nil, fmt.Errorf("attach a file: %w", err)
		}
		files = append(files, node.File{Name: filepath.Base(path), Mime: mimeOf(path, data), Size: int64(len(data)), Data: data})
	}
	return files, nil
}

func mimeOf(path string, data []byte) string {
	if byName := mime.TypeByExtension(filepath.Ext(path)); byName != "" {
		return byName
	}
	return http.DetectContentType(data)
}
