# SPDX-License-Identifier: BSD-2-Clause
# What `cmake --install` puts where, in components, and the .deb that cpack makes of each.
#   runtime       libroce0      the shared library
#   development   libroce-dev   headers, static library, roceConfig.cmake, roce.pc
#   tools         roce-tools    the programs, their man pages, and the cases of roce-conform
#   agent         roce-agent    roce-agent alone, for the machine with the device under test
#   verbs         roce-verbs    roce-run, and the libibverbs.so.1 and librdmacm.so.1 that it puts in front
#   plugin        roce-wireshark the Wireshark plugin

include(CMakePackageConfigHelpers)

# --- the library ---

set(roce_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/roce")
set_target_properties(roce_shared PROPERTIES EXPORT_NAME roce)

install(
  TARGETS roce_static roce_shared
  EXPORT roce
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          COMPONENT runtime
          NAMELINK_COMPONENT development)
install(
  DIRECTORY libroce/include/roce
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development
  FILES_MATCHING
  PATTERN "*.h")
install(
  EXPORT roce
  NAMESPACE roce::
  FILE roceTargets.cmake
  DESTINATION "${roce_config_dir}"
  COMPONENT development)

configure_package_config_file(cmake/roceConfig.cmake.in roceConfig.cmake INSTALL_DESTINATION "${roce_config_dir}")
write_basic_package_version_file(roceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/roceConfig.cmake" "${PROJECT_BINARY_DIR}/roceConfigVersion.cmake"
  DESTINATION "${roce_config_dir}"
  COMPONENT development)

# The prefix is relative to roce.pc, so that an installation can be moved.
file(RELATIVE_PATH roce_pc_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" roce_pc_prefix "${roce_pc_prefix}")
# The libraries themselves and not Requires.private: `pkg-config --static` would add what a static libpcap needs (D-Bus,
# systemd), while a static libroce goes with the shared ones of these.
execute_process(
  COMMAND "${PKG_CONFIG_EXECUTABLE}" --libs fmt libisal libpcap zlib libzstd libxdp libbpf
  OUTPUT_VARIABLE roce_pc_libs_private
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
configure_file(cmake/roce.pc.in roce.pc @ONLY)
install(
  FILES "${PROJECT_BINARY_DIR}/roce.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)

# --- the programs ---

foreach(program IN ITEMS roce-analyze roce-conform roce-gen roce-replay)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
    install(
      FILES "docs/man/${program}.1"
      DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
      COMPONENT tools)
  endif()
endforeach()
if(TARGET roce-conform)
  install(
    DIRECTORY conform/cases conform/devices
    DESTINATION "${CMAKE_INSTALL_DATADIR}/roce/conform"
    COMPONENT tools
    FILES_MATCHING
    PATTERN "*.yaml")
  install(
    FILES conform/case.schema.json conform/fuzz.schema.json conform/result.schema.json
    DESTINATION "${CMAKE_INSTALL_DATADIR}/roce/conform"
    COMPONENT tools)
endif()

# --- the agent beside a device ---

if(TARGET roce-agent)
  install(TARGETS roce-agent RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT agent)
  install(
    FILES docs/man/roce-agent.1
    DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT agent)
  install(
    FILES LICENSE
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/roce-agent"
    RENAME copyright
    COMPONENT agent)
endif()

# --- verbs without an RNIC ---

if(TARGET roce-run)
  install(TARGETS roce-run RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT verbs)
  install(
    FILES docs/man/roce-run.1
    DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT verbs)
  install(TARGETS roce-portd RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/roce/verbs" COMPONENT verbs)
  # In a folder of its own, where the dynamic linker does not look unless roce-run says so.
  install(
    TARGETS roce_ibverbs roce_rdmacm roce_paths
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/roce/verbs"
            COMPONENT verbs
            NAMELINK_SKIP)
  install(
    FILES LICENSE
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/roce-verbs"
    RENAME copyright
    COMPONENT verbs)
endif()

# --- the Wireshark plugin ---

if(TARGET roce_wireshark)
  install(TARGETS roce_wireshark LIBRARY DESTINATION "${ROCE_WIRESHARK_PLUGIN_DIR}/epan" COMPONENT plugin)
  install(
    DIRECTORY dissector/wireshark/profile/RoCE
    DESTINATION "${CMAKE_INSTALL_DATADIR}/wireshark/profiles"
    COMPONENT plugin)
  install(
    FILES dissector/wireshark/copyright
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/roce-wireshark"
    COMPONENT plugin)
endif()

# --- the .debs ---

foreach(package IN ITEMS runtime:libroce0 development:libroce-dev tools:roce-tools)
  string(REPLACE ":" ";" package "${package}")
  list(GET package 0 component)
  list(GET package 1 name)
  install(
    FILES LICENSE
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}"
    RENAME copyright
    COMPONENT ${component})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME roce)
set(CPACK_PACKAGE_VENDOR "The roce developers")
set(CPACK_PACKAGE_CONTACT "The roce developers <roce-developers@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
if(TARGET roce-analyze)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
if(TARGET roce-agent)
  list(APPEND CPACK_COMPONENTS_ALL agent)
endif()
if(TARGET roce-run)
  list(APPEND CPACK_COMPONENTS_ALL verbs)
endif()
if(TARGET roce_wireshark)
  list(APPEND CPACK_COMPONENTS_ALL plugin)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libroce0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "libroce reads and writes RoCEv1 and RoCEv2 packets, verifies their ICRC, and reads and writes pcap and pcapng files. \
This package has the shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libroce-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# The last seven are what the static library is linked with.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libroce0 (= ${PROJECT_VERSION}-1), libexpected-dev, nlohmann-json3-dev, libfmt-dev, libisal-dev, libpcap-dev, zlib1g-dev, libzstd-dev, libxdp-dev, libbpf-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "libroce reads and writes RoCEv1 and RoCEv2 packets, verifies their ICRC, and reads and writes pcap and pcapng files. \
This package has the headers, the static library, and what CMake and pkg-config need.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME roce-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION net)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
    "roce-analyze decodes captures of RoCEv1 and RoCEv2 traffic, with a verdict on the ICRC of every packet. roce-gen is a live \
RoCE endpoint, traffic generator and faulty relay on ordinary network interfaces. roce-replay plays captures again. roce-conform \
judges whether a device keeps the rules of RoCE.")

set(CPACK_DEBIAN_AGENT_PACKAGE_NAME roce-agent)
set(CPACK_DEBIAN_AGENT_PACKAGE_SECTION net)
set(CPACK_COMPONENT_AGENT_DESCRIPTION
    "roce-agent lets roce-conform on another machine make queue pairs and memory on an RDMA device of this one, post requests, and \
read what became of them. It needs libibverbs and no other package of these.")

set(CPACK_DEBIAN_VERBS_PACKAGE_NAME roce-verbs)
set(CPACK_DEBIAN_VERBS_PACKAGE_SECTION net)
set(CPACK_COMPONENT_VERBS_DESCRIPTION
    "roce-run runs programs that use RDMA verbs or RDMA CM, such as perftest and rping, without an RDMA device, a kernel module or a privilege. Their RoCE v2 goes over UDP.")

set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME roce-wireshark)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SECTION net)
set(CPACK_COMPONENT_PLUGIN_DESCRIPTION
    "A plugin for Wireshark and tshark that dissects RoCEv1 and RoCEv2 with all their headers, checks the ICRC of every packet, and \
marks retransmissions, losses, NAKs and latencies.")

include(CPack)
