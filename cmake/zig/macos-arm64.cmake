# macOS arm64 from Linux. Only to see that everything compiles and links there; nothing built here can run here.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(mw_zig_target aarch64-macos.13.0)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
