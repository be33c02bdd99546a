<?php
/**
 * Plugin Name: Stand-ins for two form plugins
 *
 * Fires the hooks of Contact Form 7 and WPForms, in their order, with their arguments.
 */
// WordPress refuses to be set to a language that it has no files of.
add_filter( 'locale', function ( $locale ) {
	return get_option( 'stand_in_locale', $locale );
} );
function stand_in_form( $action, $fields, $extra ) {
	return '<form method="post" id="' . $action . '">' . $fields . $extra . '<button>Send</button>'
		. '<output></output></form><script>document.currentScript.previousSibling.addEventListener('
		. '"submit", async (e) => { e.preventDefault(); const f = e.target; const body = new FormData(f);'
		. 'body.append("stand_in", f.id); const a = await fetch(location.href, { method: "POST", body });'
		. 'f.querySelector("output").textContent = await a.text(); });</script>';
}
class WPCF7_Mail { function name() { return 'mail'; } }
class WPCF7_ContactForm {
	function scan_form_tags() {
		return array( (object) array( 'basetype' => 'text', 'name' => 'your-name' ),
			(object) array( 'basetype' => 'email', 'name' => 'your-email' ),
			(object) array( 'basetype' => 'textarea', 'name' => 'your-message' ),
			(object) array( 'basetype' => 'submit', 'name' => '' ) );
	}
}
class WPCF7_Submission {
	public $posted; public $log = array();
	function get_contact_form() { return new WPCF7_ContactForm(); }
	function get_posted_data( $name = '' ) {
		return '' === $name ? $this->posted : ( $this->posted[ $name ] ?? null );
	}
	function add_spam_log( $args = '' ) { $this->log[] = $args; }
}
add_shortcode( 'cf7', function () {
	do_action( 'wpcf7_enqueue_scripts' );
	$fields = '<input name="your-name"><input name="your-email"><textarea name="your-message"></textarea>';
	return stand_in_form( 'cf7', apply_filters( 'wpcf7_form_elements', $fields ), '' );
} );
class Stand_In_Process { public $errors = array(); public $spam_errors = array(); public $spam_reason; }
class Stand_In_WPForms {
	public $process;
	function obj( $name ) { return $this->process; }
}
function wpforms() {
	static $one = null;
	if ( ! $one ) { $one = new Stand_In_WPForms(); $one->process = new Stand_In_Process(); }
	return $one;
}
add_shortcode( 'wpforms', function () {
	do_action( 'wpforms_frontend_js', array() );
	ob_start(); do_action( 'wpforms_display_submit_before', array( 'id' => 7 ) );
	$fields = '<input name="wpforms[fields][0]"><input name="wpforms[fields][1]">'
		. '<textarea name="wpforms[fields][2]"></textarea>';
	return stand_in_form( 'wpforms', $fields, ob_get_clean() );
} );
add_action( 'wp', function () {
	$which = $_POST['stand_in'] ?? '';
	if ( 'cf7' === $which ) {
		$one = new WPCF7_Submission();
		$one->posted = apply_filters( 'wpcf7_posted_data', wp_unslash( $_POST ) );
		$one->left_in = array_keys( $one->posted );
		if ( apply_filters( 'wpcf7_spam', false, $one ) ) {
			echo wp_json_encode( array( 'status' => 'spam', 'log' => $one->log ) ); exit;
		}
		$mail = apply_filters( 'wpcf7_mail_components', array( 'subject' => 'A message' ),
			new WPCF7_ContactForm(), new WPCF7_Mail() );
		echo wp_json_encode( array( 'status' => 'mail_sent', 'subject' => $mail['subject'],
			'fields' => $one->left_in ) ); exit;
	}
	if ( 'wpforms' === $which ) {
		$entry = wp_unslash( $_POST['wpforms'] );
		$fields = array();
		foreach ( array( 'name', 'email', 'textarea' ) as $id => $type ) {
			$value = $entry['fields'][ $id ];
			$fields[ $id ] = array( 'id' => $id, 'type' => $type, 'name' => $type, 'value' => $value );
		}
		do_action( 'wpforms_process', $fields, $entry, array( 'id' => 7 ) );
		$process = wpforms()->process;
		$mail = apply_filters( 'wpforms_entry_email_atts', array( 'subject' => 'A message' ), $fields,
			$entry, array( 'id' => 7 ), 1 );
		echo wp_json_encode( array( 'spam' => $process->spam_reason, 'said' => $process->spam_errors,
			'subject' => $mail['subject'] ) ); exit;
	}
} );
