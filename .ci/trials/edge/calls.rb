# Calls with Ruby's net/http over one connection.
require "net/http"

url, key, prism, result, count, retried = ARGV
uri = URI(url)
failed = 0
Net::HTTP.start(uri.host, uri.port) do |http|
  count.to_i.times do |call|
    path, right = "#{uri.path}/results/#{result}", 200
    case call % 3
    when 0
      request = Net::HTTP::Post.new("#{uri.path}/prisms/#{prism}/results", "Content-Type" => "application/json")
      request.body = '{"text": "Where is my order?"}'
    when 1
      request = Net::HTTP::Get.new(path)
    else
      # it gives a POST without a body a media type of its own, which the API refuses
      request, right = Net::HTTP::Post.new("#{path}/retry", "Content-Type" => "application/json"), retried.to_i
      request.body = "{}"
    end
    request["Authorization"] = "Bearer #{key}"
    begin
      status = http.request(request).code.to_i
      next if status == right
      puts "call #{call}: status #{status}"
    rescue IOError, SystemCallError => error
      puts "call #{call}: #{error}"
    end
    failed += 1
  end
end
puts "#{failed} failed"
