# libmillwright_mpi: the communicator over the MPI that was found, beside a core that needs none. Also for
# tests/mpi/other, which builds it with a second MPI against the core and libmillwright_ranks that are there.

get_filename_component(mw_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
file(GLOB mw_mpi_sources CONFIGURE_DEPENDS ${mw_root}/src/mpi/*.c)

# mw_mpi_library(<target> <kind> <ranks>): libmillwright_ranks, with the core, and MPI are what a program needs besides.
function(mw_mpi_library target kind ranks)
    add_library(${target} ${kind} ${mw_mpi_sources})
    mw_target_flags(${target})
    mw_target_hardening(${target})
    target_include_directories(${target} PRIVATE ${mw_root}/src
        PUBLIC $<BUILD_INTERFACE:${mw_root}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PUBLIC ${ranks} MPI::MPI_C)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()

mw_mpi_library(millwright_mpi SHARED millwright_ranks)
set_target_properties(millwright_mpi PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    INSTALL_RPATH $<IF:$<PLATFORM_ID:Darwin>,@loader_path,$ORIGIN>)
mw_export_only(millwright_mpi ${mw_root}/cmake/millwright_mpi.map "mw_communicator_create_mpi" "mw_mpi_start")
