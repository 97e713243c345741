// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "analyze/charts/report_json.h"
#include "analyze/charts/report_series.h"
#include "analyze/commands/commands.h"
#include "analyze/commands/following_summary.h"
#include "analyze/input/following.h"
#include "analyze/input/report.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"
#include "page/page.h"
#include "serve/page_process.h"
#include "serve/page_server.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze serve ring/                 the report of a ring buffer that dumpcap or tcpdump writes into this folder
  roce-analyze serve -i eth0               of what comes to this interface
  roce-analyze serve --port 8091 trace.pcapng

It prints an address for a browser of this machine. From another one: ssh -L 8091:127.0.0.1:8091 HOST, and --port 8091.)";

struct ServeOptions {
  AnalysisOptions common;
  std::uint16_t port = 0;
};

/// Keeps what a report shows, and has a page made of it whenever somebody asks.
class ServingConsumer final : public AnalysisConsumer {
 public:
  ServingConsumer(AnalysisSession& session, serve::PageServer& server)
      : session_(session),
        server_(server),
        series_(nobody_, session.link_bits_per_second(), 2 * static_cast<std::size_t>(session.options().max_streams)),
        events_(::epoll_create1(EPOLL_CLOEXEC)) {
    watch(server.fd());
    session.following()->watch(events_, [this] { serve(); });
    session.following()->stay();
  }
  ~ServingConsumer() override { ::close(events_); }
  ServingConsumer(const ServingConsumer&) = delete;
  ServingConsumer& operator=(const ServingConsumer&) = delete;

  void on_packet(const AnalysedPacket& packet) override { series_.on_packet(packet); }
  void on_verdict(const analysis::Verdict& verdict) override { series_.on_verdict(verdict); }
  void on_message(const analysis::Message& message) override { series_.on_message(message); }
  void on_tick(RunSoFar& run) override {
    if (!server_.is_asked() || process_.is_running()) return;
    if (process_.begin([&] { return make(run); })) {
      watch(process_.fd());
    } else {
      server_.deliver(-1);
    }
  }

 private:
  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(events_, EPOLL_CTL_ADD, fd, &event);
  }

  void serve() {
    epoll_event event{};
    while (process_.is_running() && ::epoll_wait(events_, &event, 1, 0) == 1 && event.data.fd == process_.fd()) {
      server_.deliver(process_.take().value_or(-1));
    }
    server_.serve();
    if (server_.is_asked() && !process_.is_running()) session_.following()->ask();
  }

  std::string make(RunSoFar& run) {
    const AnalysisResult result = run.result(series_);
    series_.finish();
    const Summary summary = summarise(result, not_joined(result));
    return page::make_page(page::Kind::capture, report_json({result, summary, session_.names()}, series_, true),
                           page::Reach::own_server);
  }

  AnalysisSession& session_;
  serve::PageServer& server_;
  AnalysisConsumer nobody_;
  ReportSeries series_;
  serve::PageProcess process_;
  int events_;  ///< epoll: the server, and the end of the process
};

ExitCode run_serve(const ServeOptions& options) {
  AnalysisSession session{options.common};
  if (const auto why = page::why_unavailable()) {
    report(*why);
    return ExitCode::usage;
  }
  if (options.common.json) {
    report("serve shows a page: leave out --json, or ask summary --follow --json");
    return ExitCode::usage;
  }
  if (!session.open()) return session.finish();
  const auto server = serve::PageServer::open(options.port);
  if (!server) {
    report(server.error().message);
    return server.error().code;
  }
  text::append(session.output().buffer(), (*server)->url() + "\n");
  session.output().flush();
  ServingConsumer consumer{session, **server};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = true;
  tracker.keep_answers = false;
  static_cast<void>(session.run(consumer, tracker));
  return session.finish();
}

}  // namespace

void add_serve(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("serve", "The report as a page for a browser of this machine, while a capture goes on");
  const auto options = std::make_shared<ServeOptions>();
  add_common_options(command, options->common);
  add_interface_option(command, options->common);
  command.add_option("--port", options->port, "Port on 127.0.0.1; 0 (the default): one that is free").type_name("PORT");
  command.footer(std::string{kExamples});
  options->common.follow = true;
  options->common.shows_lacks = true;
  command.callback([options, &code] { code = run_serve(*options); });
}

}  // namespace roce::analyze
