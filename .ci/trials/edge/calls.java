// Calls with the HTTP client of the JDK as it is, which offers HTTP/2 on each new connection.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

public class Calls {
    public static void main(String[] args) throws Exception {
        String url = args[0], key = args[1], prism = args[2], result = args[3];
        HttpClient client = HttpClient.newHttpClient();
        int failed = 0;
        for (int call = 0; call < Integer.parseInt(args[4]); call++) {
            HttpRequest.Builder request = HttpRequest.newBuilder().header("Authorization", "Bearer " + key);
            int right = 200;
            if (call % 3 == 0) {
                request.uri(URI.create(url + "/prisms/" + prism + "/results")).header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"text\": \"Where is my order?\"}"));
            } else if (call % 3 == 1) {
                request.uri(URI.create(url + "/results/" + result));
            } else {
                request.uri(URI.create(url + "/results/" + result + "/retry")).POST(BodyPublishers.noBody());
                right = Integer.parseInt(args[5]);
            }
            try {
                int status = client.send(request.build(), BodyHandlers.ofString()).statusCode();
                if (status == right) continue;
                System.out.println("call " + call + ": status " + status);
            } catch (java.io.IOException error) {
                System.out.println("call " + call + ": " + error);
            }
            failed++;
        }
        System.out.println(failed + " failed");
    }
}
