<?php
/**
 * The settings page: URL, key, and a test of the connection.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const PAGE = 'slopsieve';

add_action( 'admin_menu', __NAMESPACE__ . '\\add_settings_page' );
add_action( 'admin_init', __NAMESPACE__ . '\\add_settings' );
add_action( 'admin_post_' . TEST, __NAMESPACE__ . '\\test_connection' );
add_action( 'add_option_' . SETTINGS, __NAMESPACE__ . '\\connect_anew' );
add_action( 'update_option_' . SETTINGS, __NAMESPACE__ . '\\connect_anew' );
add_filter( 'plugin_action_links_slopsieve/slopsieve.php', __NAMESPACE__ . '\\add_settings_link' );

/** Add the page below "Settings". */
function add_settings_page(): void {
	add_options_page( __( 'Slopsieve', 'slopsieve' ), __( 'Slopsieve', 'slopsieve' ), 'manage_options', PAGE, __NAMESPACE__ . '\\print_settings_page' );
}

/**
 * Add a link to the page to the list of plugins.
 *
 * @param string[] $links The other links.
 */
function add_settings_link( $links ) {
	$link = sprintf( '<a href="%s">%s</a>', esc_url( settings_url() ), esc_html__( 'Settings', 'slopsieve' ) );
	return array_merge( array( $link ), $links );
}

/** Return the page's URL. */
function settings_url(): string {
	return admin_url( 'options-general.php?page=' . PAGE );
}

/** Register the settings. */
function add_settings(): void {
	register_setting(
		PAGE,
		SETTINGS,
		array(
			'type'              => 'array',
			'sanitize_callback' => __NAMESPACE__ . '\\read_settings',
			'default'           => array(),
			'show_in_rest'      => false,
		)
	);
}

/**
 * Return the settings to store; an empty key keeps the stored one.
 *
 * @param mixed $given The form's values.
 */
function read_settings( $given ): array {
	$kept    = (array) get_option( SETTINGS, array() );
	$given   = is_array( $given ) ? $given : array();
	$address = untrailingslashit( trim( (string) ( $given['address'] ?? '' ) ) );
	$key     = trim( (string) ( $given['key'] ?? '' ) );
	if ( '' !== $address && ! preg_match( '~^https?://[^\s/?#@]+(/[^\s?#]*)?$~i', $address ) ) {
		add_settings_error( SETTINGS, 'address', __( 'Address: is no web address; enter one such as https://comments.example.org.', 'slopsieve' ) );
		$address = (string) ( $kept['address'] ?? '' );
	}
	if ( '' !== $key && ! preg_match( '/^[\x21-\x7e]{8,200}$/', $key ) ) {
		add_settings_error( SETTINGS, 'key', __( 'Key: is none of Slopsieve; paste the one that begins with slop_.', 'slopsieve' ) );
		$key = '';
	}
	return array(
		'address' => esc_url_raw( $address ),
		'key'     => '' === $key ? (string) ( $kept['key'] ?? '' ) : $key,
	);
}

/** Print the page. */
function print_settings_page(): void {
	if ( ! current_user_can( 'manage_options' ) ) {
		return;
	}
	$fixed = defined( 'SLOPSIEVE_ADDRESS' ) || defined( 'SLOPSIEVE_KEY' );
	echo '<div class="wrap"><h1>' . esc_html__( 'Slopsieve', 'slopsieve' ) . '</h1>';
	foreach ( (array) get_transient( TEST ) as $line ) {
		if ( is_array( $line ) ) {
			printf( '<div class="notice notice-%s"><p>%s</p></div>', $line[0] ? 'success' : 'error', esc_html( $line[1] ) );
		}
	}
	delete_transient( TEST );
	echo '<form method="post" action="options.php">';
	settings_fields( PAGE );
	echo '<table class="form-table" role="presentation">';
	print_field( 'address', 'url', __( 'Address', 'slopsieve' ), service_address(), __( 'Where your service answers, such as https://comments.example.org.', 'slopsieve' ) );
	$hint = service_key() ? __( 'A key is saved. Leave this empty to keep it.', 'slopsieve' ) : __( 'On the machine of the service: slopsieve sites add "My blog" prints it, once.', 'slopsieve' );
	print_field( 'key', 'password', __( 'Key', 'slopsieve' ), '', $hint );
	echo '</table>';
	if ( $fixed ) {
		echo '<p>' . esc_html__( 'wp-config.php sets SLOPSIEVE_ADDRESS or SLOPSIEVE_KEY, which win over what is entered here.', 'slopsieve' ) . '</p>';
	}
	submit_button();
	echo '</form>';
	if ( is_set_up() ) {
		printf( '<form method="post" action="%s">', esc_url( admin_url( 'admin-post.php' ) ) );
		printf( '<input type="hidden" name="action" value="%s">', esc_attr( TEST ) );
		wp_nonce_field( TEST );
		echo '<p>' . esc_html__( 'Saving connects. If decisions do not come back, test the connection: that arranges them anew.', 'slopsieve' ) . '</p>';
		submit_button( __( 'Test the connection', 'slopsieve' ), 'secondary', 'test' );
		echo '</form>';
		printf( '<form method="post" action="%s">', esc_url( admin_url( 'admin-post.php' ) ) );
		printf( '<input type="hidden" name="action" value="%s">', esc_attr( DOWNLOAD ) );
		wp_nonce_field( DOWNLOAD );
		echo '<p>' . esc_html__( 'What was published and what was called spam before teaches the service. Download the comments and import them there: slopsieve import comments.jsonl --format jsonl --with-decisions --site "My blog"', 'slopsieve' ) . '</p>';
		submit_button( __( 'Download the comments', 'slopsieve' ), 'secondary', 'download' );
		echo '</form>';
	}
	echo '</div>';
}

/** Print one field. */
function print_field( string $name, string $type, string $label, string $value, string $hint ): void {
	printf(
		'<tr><th scope="row"><label for="slopsieve-%1$s">%2$s</label></th><td><input id="slopsieve-%1$s" name="%3$s[%1$s]" type="%4$s" value="%5$s" class="regular-text" autocomplete="off" aria-describedby="slopsieve-%1$s-hint"><p class="description" id="slopsieve-%1$s-hint">%6$s</p></td></tr>',
		esc_attr( $name ),
		esc_html( $label ),
		esc_attr( SETTINGS ),
		esc_attr( $type ),
		esc_attr( $value ),
		esc_html( $hint )
	);
}

/** Connect with the saved settings; the page shows the result. */
function connect_anew(): void {
	if ( is_set_up() ) {
		set_transient( TEST, connect(), MINUTE_IN_SECONDS );
	}
}

/** Connect, and redirect to the page, which shows the result. */
function test_connection(): void {
	if ( ! current_user_can( 'manage_options' ) ) {
		wp_die( esc_html__( 'You may not change this.', 'slopsieve' ), '', array( 'response' => 403 ) );
	}
	check_admin_referer( TEST );
	connect_anew();
	wp_safe_redirect( settings_url() );
	exit;
}

/**
 * Set up site, callback and form script; return each result with true if it is a success.
 *
 * @return array<array{0: bool, 1: string}>
 */
function connect(): array {
	start_sweeping();
	$site = ask_service( 'GET', '/v1/site' );
	if ( ! is_case( $site ) ) {
		return array( array( false, why_not( $site ) ) );
	}
	/* translators: 1: the site's name at the service. 2: observe, hold or enforce. */
	$said  = sprintf( __( 'Comments are judged: the key opens the site "%1$s", in mode %2$s.', 'slopsieve' ), $site['body']['name'], $site['body']['settings']['mode'] );
	$lines = array( array( true, $said ) );
	$asked = array(
		'url'    => rest_url( CALLBACK_SPACE . '/callback' ),
		'events' => CALLBACK_EVENTS,
		'rotate' => true,
	);
	$before = ask_service( 'GET', '/v1/site/callback' );
	if ( 200 === $before['status'] && $asked['url'] !== ( $before['body']['url'] ?? $asked['url'] ) ) {
		/* translators: %s: another blog's address. */
		$lines[] = array( false, sprintf( __( 'Until now this key sent decisions to %s, which hears of none any more. If that is another blog, give each a key of its own.', 'slopsieve' ), $before['body']['url'] ) );
	}
	$told = ask_service( 'PUT', '/v1/site/callback', $asked );
	if ( 200 === $told['status'] && ! empty( $told['body']['secret'] ) ) {
		keep_connection( array( 'secret' => $told['body']['secret'] ) );
		/* translators: %s: an address of this blog. */
		$lines[] = array( true, sprintf( __( 'Decisions come back to %s.', 'slopsieve' ), $asked['url'] ) );
	} else {
		/* translators: %s: what the service answered. */
		$lines[] = array( false, sprintf( __( 'Decisions made at the service do not come back: %s', 'slopsieve' ), $told['problem'] ) );
	}
	$lines[] = last_delivery();
	$lines[] = read_form_script()
		? array( true, __( 'The comment form brings along how it was filled in.', 'slopsieve' ) )
		: array( false, __( 'The script of the comment form could not be read; comments are judged without what it counts.', 'slopsieve' ) );
	retry_soon();
	return array_values( array_filter( $lines ) );
}

/** Return the problem of the connection and its remedy. */
function why_not( array $answer ): string {
	if ( 401 === $answer['status'] ) {
		return __( 'Key: is not accepted; enter the one that "slopsieve sites add" printed, or issue another.', 'slopsieve' );
	}
	$problem = AWAY === $answer['status'] ? $answer['problem'] : sprintf( '%d %s', $answer['status'], $answer['problem'] );
	/* translators: %s: what went wrong. */
	return sprintf( __( 'Address: no Slopsieve answers there (%s); look whether it runs and whether this server may reach it. Comments wait in Pending meanwhile.', 'slopsieve' ), $problem );
}

/** Return the failure of the newest message to this blog, or null. */
function last_delivery(): ?array {
	$list   = ask_service( 'GET', '/v1/site/deliveries?limit=1' );
	$newest = $list['body']['deliveries'][0] ?? null;
	if ( ! $newest || 'delivered' === $newest['state'] || ! $newest['attempts'] ) {
		return null;
	}
	$log  = ask_service( 'GET', '/v1/site/deliveries/' . rawurlencode( $newest['id'] ) );
	$last = end( $log['body']['log'] );
	/* translators: %s: what went wrong. */
	$words = __( 'The newest message of the service did not arrive here: %s. If this blog has a private address, allow it there with SLOPSIEVE_CALLBACK_ALLOW.', 'slopsieve' );
	return array( false, sprintf( $words, $last['problem'] ?? '' ) );
}
