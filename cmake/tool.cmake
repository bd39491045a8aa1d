# mw, the tool: needs popt. Its man page and completions are printed by itself, so a cross-build has none.
file(GLOB_RECURSE mw_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tool/*.c)
add_executable(mw ${mw_tool_sources})
mw_target_flags(mw)
mw_target_hardening(mw)
target_include_directories(mw PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_include_directories(mw SYSTEM PRIVATE ${MW_POPT_INCLUDE})
target_link_libraries(mw PRIVATE ${mw_inside} ${MW_POPT_LIBRARY} Threads::Threads m)

set(mw_tool_pages)
if(NOT CMAKE_CROSSCOMPILING)
    set(mw_tool_pages ${PROJECT_BINARY_DIR}/mw.1 ${PROJECT_BINARY_DIR}/mw.bash ${PROJECT_BINARY_DIR}/_mw
        ${PROJECT_BINARY_DIR}/mw.fish)
    add_custom_command(OUTPUT ${mw_tool_pages}
        COMMAND mw man > ${PROJECT_BINARY_DIR}/mw.1
        COMMAND mw completion bash > ${PROJECT_BINARY_DIR}/mw.bash
        COMMAND mw completion zsh > ${PROJECT_BINARY_DIR}/_mw
        COMMAND mw completion fish > ${PROJECT_BINARY_DIR}/mw.fish
        DEPENDS mw)
    add_custom_target(mw_pages ALL DEPENDS ${mw_tool_pages})
endif()
