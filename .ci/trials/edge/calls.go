// Calls with Go's net/http.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	url, key, prism, result := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	count, _ := strconv.Atoi(os.Args[5])
	retry, _ := strconv.Atoi(os.Args[6])
	failed := 0
	for call := 0; call < count; call++ {
		method, path, right := "GET", "/results/"+result, 200
		var body io.Reader
		switch call % 3 {
		case 0:
			method, path, body = "POST", "/prisms/"+prism+"/results", strings.NewReader(`{"text": "Where is my order?"}`)
		case 2:
			method, path, right = "POST", path+"/retry", retry
		}
		request, _ := http.NewRequest(method, url+path, body)
		request.Header.Set("Authorization", "Bearer "+key)
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			response.Body.Close()
			if err == nil && response.StatusCode == right {
				continue
			}
			err = fmt.Errorf("status %d, %v", response.StatusCode, err)
		}
		fmt.Printf("call %d: %v\n", call, err)
		failed++
	}
	fmt.Println(failed, "failed")
}
