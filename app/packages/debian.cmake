# Debian packages by CPack: lxplan, lxplan-ilp, lxplan-mpi, liblxplan0, liblxplan-dev and python3-lxplan, one per component of
# the installation.
#
#     ./bootstrap packages         # builds them for /usr, looks at them with lintian, tries them in a chroot
#     cmake --build build --target package     # of any build folder: into its folder packages/
#
# Dependencies on other libraries are found by dpkg-shlibdeps. What only Debian asks for (changelog, copyright, manual pages
# compressed) is added to the staged files by debian_stage.cmake.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lxplan)
set(CPACK_PACKAGE_VENDOR lxplan)
set(CPACK_PACKAGE_CONTACT "lxplan maintainers <maintainers@lxplan.invalid>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_COMPONENTS_ALL program library development python)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lxplan)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "planner of tensor graphs on cores with small scratchpads
Plans how a tensor graph runs on a many-core accelerator whose cores each own a
small scratchpad, proves each plan on a simulated device, compares placement
solvers, and shows it all in a terminal.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS lxplan-ilp)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS lxplan-mpi)

set(CPACK_COMPONENT_ILP_DESCRIPTION "planner of tensor graphs on scratchpads: solver ilp
Integer programming with GLPK, as a plug-in of the program and of the library.
GLPK is under the GPL, version 3: so is a program together with this plug-in.")
set(CPACK_COMPONENT_MPI_DESCRIPTION "planner of tensor graphs on scratchpads: MPI
Teams, benchmarks and sweeps by the processes of mpirun, as a plug-in of the
program.")
foreach(plugin ilp mpi)
  if(TARGET lxplan_${plugin})
    list(APPEND CPACK_COMPONENTS_ALL ${plugin})
    string(TOUPPER ${plugin} PLUGIN)
    set(CPACK_DEBIAN_${PLUGIN}_PACKAGE_NAME lxplan-${plugin})
    set(CPACK_DEBIAN_${PLUGIN}_PACKAGE_SHLIBDEPS ON)
    list(APPEND PLUGIN_PACKAGES "${plugin}=lxplan-${plugin}")
  endif()
endforeach()
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "lxplan (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liblxplan${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
# CPack's own shlibs come with scripts that call ldconfig; today a trigger does.
set(CONTROL ${CMAKE_BINARY_DIR}/debian_control)
file(CONFIGURE OUTPUT ${CONTROL}/shlibs @ONLY
     CONTENT "liblxplan @PROJECT_VERSION_MAJOR@ @CPACK_DEBIAN_LIBRARY_PACKAGE_NAME@ (>= @PROJECT_VERSION@)\n")
file(CONFIGURE OUTPUT ${CONTROL}/triggers CONTENT "activate-noawait ldconfig\n" @ONLY)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${CONTROL}/shlibs;${CONTROL}/triggers")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "planner of tensor graphs on scratchpads: shared library
Graphs, placement problems, solvers, plans, their checker and a simulated
device for other compilers to call.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblxplan-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION}), libc6-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "planner of tensor graphs on scratchpads: development files
Headers, the static library and what pkg-config says of them.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-lxplan)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (>= ${PROJECT_VERSION}), python3 (>= 3.9), python3:any")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "planner of tensor graphs on scratchpads: Python module
The shared library for Python, with drop-ins for the memory planners of
torch-spyre and ExecuTorch.")

# For debian_stage.cmake: which package a component is, where texts come from, and the moment of the changelog.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_stage.cmake)
set(CPACK_LXPLAN_PACKAGES "program=${CPACK_DEBIAN_PROGRAM_PACKAGE_NAME};library=${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME};development=${CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME};python=${CPACK_DEBIAN_PYTHON_PACKAGE_NAME};${PLUGIN_PACKAGES}")
set(CPACK_LXPLAN_TEXTS ${CMAKE_CURRENT_LIST_DIR})
execute_process(COMMAND git log -1 --format=%cd --date=rfc2822 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                OUTPUT_VARIABLE CPACK_LXPLAN_DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT CPACK_LXPLAN_DATE)
  set(CPACK_LXPLAN_DATE "Tue, 17 Nov 2026 00:00:00 +0000")
endif()
include(CPack)
