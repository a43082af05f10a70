package apitest

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CheckAnswer holds an answer to what the operation documents.
func (o Operation) CheckAnswer(status int, h http.Header, body []byte) error {
	n, _, ok := o.response(status)
	if !ok {
		return fmt.Errorf("%s answered %d, which api/openapi.yaml does not document: %s", o, status, body)
	}
	if err := o.doc.checkHeaders(n, h); err != nil {
		return fmt.Errorf("%s answered %d: %w", o, status, err)
	}
	if err := o.doc.checkContent(n, h.Get("Content-Type"), body); err != nil {
		return fmt.Errorf("%s answered %d: %w\n%s", o, status, err, body)
	}
	return nil
}

// CheckRequest holds the body of a request that succeeds to the document.
func (o Operation) CheckRequest(body []byte) error {
	n, ok := o.node.Child("requestBody")
	if !ok {
		if len(body) > 0 {
			return fmt.Errorf("%s documents no body", o)
		}
		return nil
	}
	n, err := o.doc.Resolve(n)
	if err != nil {
		return err
	}
	if required, _ := n.Child("required"); len(body) == 0 && required.Value != true {
		return nil
	}
	if err := o.doc.checkContent(n, "application/json", body); err != nil {
		return fmt.Errorf("the request of %s: %w\n%s", o, err, body)
	}
	return nil
}

func (d *Document) checkHeaders(response Node, h http.Header) error {
	headers, _ := response.Child("headers")
	for _, name := range headers.Names() {
		n, _ := headers.Child(name)
		n, err := d.Resolve(n)
		if err != nil {
			return err
		}
		value := h.Get(name)
		if required, _ := n.Child("required"); value == "" {
			if required.Value == true {
				return fmt.Errorf("there is no %s", name)
			}
			continue
		}
		if err := d.CheckText(n, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// CheckText holds the text of a header or parameter to the schema beside it.
func (d *Document) CheckText(n Node, value string) error {
	at, _ := n.Child("schema")
	if number, err := strconv.ParseInt(value, 10, 64); err == nil && at.Text("type") == "integer" {
		return d.CheckValue(n, number)
	}
	return d.CheckValue(n, value)
}

func (d *Document) checkContent(n Node, contentType string, body []byte) error {
	content, documented := n.Child("content")
	if !documented {
		if len(body) > 0 {
			return fmt.Errorf("there is a body of %d bytes", len(body))
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("Content-Type %q: %w", contentType, err)
	}
	n, ok := content.Child(media)
	if !ok {
		return fmt.Errorf("Content-Type %s is not documented", media)
	}
	if media != "application/json" && !strings.HasSuffix(media, "+json") {
		return d.CheckText(n, string(body))
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return d.CheckValue(n, value)
}

// CheckValue holds a value to the schema beside it.
func (d *Document) CheckValue(n Node, value any) error {
	at, ok := n.Child("schema")
	if !ok {
		return fmt.Errorf("%s has no schema", n.Pointer)
	}
	schema, err := d.Schema(at)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
