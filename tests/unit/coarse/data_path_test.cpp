// Names of base stations that look like a data path.
#include "userspace/coarse/functions/data_path.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::coarse {
namespace {

TEST_CASE("functions through which packets go look like it") {
  for (const char* name :
       {"srsran::pdcp_entity_tx::handle_sdu(srsran::byte_buffer)",
        "srsran::rlc_tx_um_entity::pull_pdu(srsran::span<unsigned char>)",
        "srsenb::rlc::write_pdu(unsigned short, unsigned int, unsigned char*, unsigned int)",
        "nr_pdcp_data_req_drb",
        "mac_rlc_data_ind",
        "nr_rx_sdu",
        "msgb_enqueue",
        "msgb_dequeue",
        "processCommand",
        "writeToClient",
        "ring_put",
        "gtpv1uSend",
        "radio::Bearer::send(radio::Pdu const&)",
        "void radio::Queue::push<radio::Packet>(radio::Packet&&)",
        "handleMacPdu",
        "UDPNameserver::send(DNSPacket&)",
        "PacketHandler::doQuestion(DNSPacket&)",
        "PacketHandler::question(DNSPacket&)",
        "gsm0503_xcch_encode",
        "osmo_wqueue_enqueue",
        "gsmtap_sendmsg"}) {
    CAPTURE(name);
    CHECK(data_path_score(name) > 0);
  }
}

TEST_CASE(
    "helpers, the language's own functions, and mere names of layers do not look like the data "
    "path") {
  for (const char* name :
       {"std::vector<rlc_pdu>::push_back(rlc_pdu&&)", "main", "rlc_tx_entity::~rlc_tx_entity()",
        "pdcp_config_pack", "rlc_log_tx_pdu", "rlc_get_queue_size", "fmt::v8::detail::write_pdu",
        "std::_Function_handler<void ()>::_M_invoke", "operator==(rlc_pdu, rlc_pdu)",
        "mac::push_pdu(unsigned)::{lambda()#1}::operator()() const", "strlen", "",
        "PacketHandler::isMaster(int)", "DNSPacket::getMaxReplyLen()", "Logger::send(std::string)",
        "non-virtual thunk to f1u_bearer_impl::handle_pdu(nru_dl_message)"}) {
    CAPTURE(name);
    CHECK(data_path_score(name) == 0);
  }
}

TEST_CASE("functions that handle a layer's packets come before more general ones") {
  CHECK(data_path_score("rlc_entity::handle_sdu") > data_path_score("control::handle_msg"));
}

TEST_CASE("libraries of the toolchain are distinguished from a base station's") {
  CHECK(is_of_toolchain("/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"));
  CHECK(is_of_toolchain("/lib/x86_64-linux-gnu/libc.so.6"));
  CHECK(is_of_toolchain("/usr/lib/x86_64-linux-gnu/libcrypto.so.3"));
  CHECK(is_of_toolchain("/usr/lib/x86_64-linux-gnu/libgnutls.so.30.34.3"));
  CHECK_FALSE(is_of_toolchain("/usr/lib/x86_64-linux-gnu/libosmocore.so.19"));
  CHECK_FALSE(is_of_toolchain("/opt/libcell.so"));
}

}  // namespace
}  // namespace sojourn::coarse
